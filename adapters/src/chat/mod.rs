//! OpenAI chat objects.
