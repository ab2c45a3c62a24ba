//! Anthropic content blocks: shared by Claude Code and Qwen Code.
