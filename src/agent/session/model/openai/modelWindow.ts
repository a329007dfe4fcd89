import { isRecord } from '../../../base/json.ts';

/**
 * The fields in which servers report a model's context window in their list of models, the one that is in force first:
 * - `loaded_context_length`, `max_context_length`: LM Studio's `/api/v0/models` (https://lmstudio.ai/docs/api/rest-api); the first
 *   is the size that the model was loaded with. Mistral's `/v1/models` also has the second (https://docs.mistral.ai/api).
 * - `max_model_len`: vLLM and SGLang, as they were started (`ModelCard` in vllm/entrypoints/openai/protocol.py).
 * - `context_length`: OpenRouter (https://openrouter.ai/docs/api/api-reference/models/get-models), Together, Fireworks, Moonshot;
 *   also Ollama's `/api/ps`.
 * - `context_window`: Groq (https://console.groq.com/docs/models).
 * - `max_input_tokens`: Anthropic's `/v1/models`, and LiteLLM.
 */
const WINDOW_FIELDS = [
  'loaded_context_length',
  'max_model_len',
  'context_length',
  'max_context_length',
  'context_window',
  'max_input_tokens',
] as const;

/** No model has less: a smaller number is a placeholder. */
const MIN_WINDOW = 1_024;

/**
 * The path, relative to its origin, at which a server reports the window if `/models` does not, or not exactly. A server is asked
 * there only if its list of models identifies it, so that no other server gets requests that it does not know.
 */
type OtherPlace = '/props' | '/api/v0/models' | '/api/ps';

/** The entry for one model's window in a list of models. */
export interface ListedWindow {
  /** In tokens. */
  readonly window?: number;
  /** Another place that reports it more exactly. */
  readonly ask?: OtherPlace;
}

/** Finds a model's context window in a list of models. */
export function windowInList(list: readonly unknown[], model: string): ListedWindow {
  const entry = list.find(one => isRecord(one) && (one['id'] === model || one['name'] === model));
  if (!isRecord(entry)) return {};
  const { meta, top_provider: top, owned_by: owner } = entry;
  const window =
    // The limit of OpenRouter's default host, which may be lower than the model's own.
    windowIn(top) ??
    windowIn(entry) ??
    (isRecord(meta) ? (size(meta['n_ctx']) ?? size(meta['n_ctx_train'])) : undefined);
  const told = window === undefined ? {} : { window };
  switch (owner) {
    // llama.cpp lists the size that the model was trained with (`n_ctx_train`); the size that it was started with is in `/props`
    // (https://github.com/ggml-org/llama.cpp/tree/master/tools/server).
    case 'llamacpp':
      return isRecord(meta) && size(meta['n_ctx']) !== undefined ? told : { ...told, ask: '/props' };
    case 'organization_owner': // LM Studio
      return { ...told, ask: '/api/v0/models' };
    case 'library': // Ollama, which cuts off a prompt that is too long without a word
      return { ...told, ask: '/api/ps' };
    default:
      return told;
  }
}

/** Finds a model's window in the answer of one of the other places. */
export function windowInAnswer(place: OtherPlace, body: unknown, model: string): number | undefined {
  if (!isRecord(body)) return undefined;
  if (place === '/props') {
    const settings = body['default_generation_settings'];
    return isRecord(settings) ? size(settings['n_ctx']) : undefined;
  }
  const list: unknown[] = [body['data'], body['models']].find(Array.isArray) ?? [];
  const names = [model, `${model}:latest`];
  const entry = list.find(
    one =>
      isRecord(one) && [one['id'], one['name'], one['model']].some(name => names.includes(name as string)),
  );
  return windowIn(entry);
}

function windowIn(entry: unknown): number | undefined {
  if (!isRecord(entry)) return undefined;
  for (const field of WINDOW_FIELDS) {
    const window = size(entry[field]);
    if (window !== undefined) return window;
  }
  return undefined;
}

function size(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= MIN_WINDOW ? value : undefined;
}
