/// Members that the model has no place for.
pub(crate) const KNOWN: &[(&str, &str)] = &[
    ("annotations", "citations of a text (OpenRouter, OpenAI's search)"),
    ("created", "when the reply began, in seconds since 1970"),
    ("extra_content", "what Gemini wants back with a call: `google.thought_signature`"),
    ("member", "the member of the stream that held a thought; it goes back under this name"),
    ("provider", "who answered behind OpenRouter"),
    (
        "reasoning_details",
        "thoughts in OpenRouter's form, with signatures and what only the vendor can read",
    ),
    ("service_tier", "OpenAI's price class of the request"),
    ("system_fingerprint", "OpenAI's mark of the model's configuration"),
    ("type", "`function`"),
    ("x_groq", "Groq's request id and usage"),
];

/// Whether the page names a member.
pub(crate) fn knows(name: &str) -> bool {
    KNOWN.binary_search_by(|(known, _)| (*known).cmp(name)).is_ok()
}
