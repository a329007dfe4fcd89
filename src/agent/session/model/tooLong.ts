/**
 * How servers say that a request does not fit into the model's context window:
 * - OpenAI, DeepSeek, Groq, Azure: the code `context_length_exceeded`, "maximum context length is 8192 tokens", "exceeds the
 *   context window", "reduce the length of the messages";
 * - vLLM, SGLang, OpenRouter: "maximum context length is 4096 tokens", "is longer than the maximum model length of 4096",
 *   "is longer than the model's context length";
 * - llama.cpp: `exceed_context_size_error` with `n_ctx`, "exceeds the available context size";
 *   llama-cpp-python: "Requested tokens (2285) exceed context window of 2048";
 * - Ollama: "prompt too long; exceeded max context length", "the input length exceeds the context length";
 * - LM Studio: "greater than the context length";
 * - Anthropic and gateways to it: "prompt is too long: 250000 tokens > 200000 maximum", "exceed context limit",
 *   `request_too_large`; Bedrock: "Input is too long for requested model";
 * - Gemini: "input token count (…) exceeds the maximum number of tokens allowed (1048576)";
 * - Copilot: `model_max_prompt_tokens_exceeded`, "prompt token count of 138898 exceeds the limit of 64000"; in VS Code "Message
 *   exceeds token limit.";
 * - Mistral: "too large for model with 32768 maximum context length"; xAI: "maximum prompt length is 131072".
 */
const TOO_LONG =
  /context_length_exceeded|exceed_context_size_error|request_too_large|maximum (?:context|prompt) length|max context length|context[ _](?:length|window|limit)[ _]exceeded|longer than the (?:maximum model length|model's context length)|(?:exceeds?|exceeded|greater than) (?:the |its )?(?:available |model's |maximum )?context (?:size|length|window|limit)|prompt (?:is )?too long|input is too long|token count[^"]{0,60}exceeds the (?:maximum|limit)|prompt_tokens_exceeded|exceeds (?:the )?token limit|token limit exceeded|reduce the length of the messages/i;

/** A limit of tokens over time is not a limit of the window. */
const RATE_LIMIT = /per (?:minute|day|hour|second)|\b[TR]P[MD]\b|rate.?limit|quota/i;

/** The size of the window, where the text names it. */
const WINDOW =
  /(?:maximum (?:context|prompt) length (?:is|of)|token count of \d{1,9} exceeds the limit of|maximum model length of|context window of|"n_ctx": ?|available context size \(|tokens allowed \(|tokens >|too large for model with|context limit: \d{1,9} \+ \d{1,9} >|context length (?:of|\()) ?(\d{1,9})/i;

const STATUSES = [400, 413, 422, 500];

/**
 * Whether a server refused a request because it is too long for the model.
 * @param status of the answer; `undefined` for an error inside an answer.
 * @param body the beginning of the raw body.
 */
export function isTooLong(status: number | undefined, body: string): boolean {
  if (status === 413) return true;
  return (status === undefined || STATUSES.includes(status)) && TOO_LONG.test(body) && !RATE_LIMIT.test(body);
}

/** The size of the context window that such a refusal names, in tokens; `undefined` if it names none. */
export function windowInRefusal(body: string): number | undefined {
  const [, digits] = WINDOW.exec(body.replace(/(?<=\d),(?=\d{3})/g, '')) ?? [];
  const window = Number(digits);
  return window > 0 ? window : undefined;
}
