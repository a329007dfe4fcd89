/** One message of the scripted model. */
export type Step = Call | { readonly text: string };

export interface Call {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** What a request tells, in whichever format. */
export interface ModelRequest {
  /** The names of the tools that it offers, and the namespace of those that have one. */
  readonly tools: readonly { readonly name: string; readonly namespace?: string }[];
  /** The results of calls, the oldest first. */
  readonly results: readonly string[];
  /** The instructions of the agent, and what it says as its user. */
  readonly instructions: string;
  readonly prompts: string;
}

/** How one kind of server is spoken to. */
export interface WireFormat {
  matches(path: string): boolean;
  read(body: Json): ModelRequest;
  /** The events of a streamed answer, or the body of one that is not streamed. */
  write(
    step: CalledStep,
    id: string,
    body: Json,
  ): { readonly events: readonly Json[] } | { readonly body: Json };
  /** Whether events carry their type as the name of the event. */
  readonly isNamed: boolean;
  /** What ends a stream. */
  readonly end?: string;
}

/** A step whose tool has the name under which the request offers it. */
export type CalledStep =
  | { readonly call: { readonly name: string; readonly namespace?: string }; readonly args: object }
  | { readonly text: string };

// The bodies are foreign data of several formats, which only the functions here look at.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Json = any;

/* eslint-disable @typescript-eslint/no-unsafe-assignment, @typescript-eslint/no-unsafe-member-access, @typescript-eslint/no-unsafe-return */

const list = (value: Json): Json[] => (Array.isArray(value) ? value : []);

/** The text of content that is a string, or a list of parts with a text. */
function textOf(content: Json): string {
  if (typeof content === 'string') return content;
  if (Array.isArray(content))
    return content.map(part => textOf(part?.text ?? part?.content ?? '')).join('\n');
  return content === undefined || content === null ? '' : JSON.stringify(content);
}

/** The texts of the messages of some roles. */
function saidBy(messages: Json, ...roles: readonly string[]): string {
  return list(messages)
    .filter(({ role }) => roles.includes(String(role)))
    .map(({ content }) => textOf(Array.isArray(content) ? content.filter(part => part.text) : content))
    .join('\n');
}

/** OpenAI's chat completions: opencode. */
const chat: WireFormat = {
  matches: path => path.endsWith('/chat/completions'),
  isNamed: false,
  end: '[DONE]',
  read: body => ({
    tools: list(body.tools).map(tool => ({ name: tool.function?.name ?? '' })),
    results: list(body.messages)
      .filter(({ role }) => role === 'tool')
      .map(({ content }) => textOf(content)),
    instructions: saidBy(body.messages, 'system', 'developer'),
    prompts: saidBy(body.messages, 'user'),
  }),
  write: (step, id, { model, stream }) => {
    const calls =
      'call' in step
        ? [
            {
              index: 0,
              id,
              type: 'function',
              function: { name: step.call.name, arguments: JSON.stringify(step.args) },
            },
          ]
        : undefined;
    const finish_reason = calls ? 'tool_calls' : 'stop';
    const message = {
      role: 'assistant',
      content: 'text' in step ? step.text : null,
      ...(calls ? { tool_calls: calls } : {}),
    };
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
    if (!stream)
      return {
        body: {
          id,
          object: 'chat.completion',
          created: 1,
          model,
          usage,
          choices: [{ index: 0, message, finish_reason }],
        },
      };
    const chunk = (choices: Json[], more = {}): Json => ({
      id,
      object: 'chat.completion.chunk',
      created: 1,
      model,
      choices,
      ...more,
    });
    return {
      events: [
        chunk([{ index: 0, delta: message, finish_reason: null }]),
        chunk([{ index: 0, delta: {}, finish_reason }]),
        chunk([], { usage }),
      ],
    };
  },
};

/** OpenAI's responses: Codex. */
const responses: WireFormat = {
  matches: path => path.endsWith('/responses'),
  isNamed: true,
  read: body => ({
    tools: list(body.tools).flatMap(tool =>
      tool.type === 'namespace'
        ? list(tool.tools).map(inner => ({ name: inner.name, namespace: tool.name }))
        : [{ name: tool.name ?? tool.type ?? '' }],
    ),
    results: list(body.input)
      .filter(({ type = '' }) => String(type).endsWith('_call_output'))
      .map(({ output }) => textOf(output)),
    instructions: `${textOf(body.instructions)}\n${saidBy(body.input, 'developer', 'system')}`,
    prompts: saidBy(body.input, 'user'),
  }),
  write: (step, id) => {
    const item =
      'call' in step
        ? {
            type: 'function_call',
            id: `fc_${id}`,
            call_id: id,
            ...step.call,
            arguments: JSON.stringify(step.args),
          }
        : {
            type: 'message',
            id: `msg_${id}`,
            role: 'assistant',
            content: [{ type: 'output_text', text: step.text, annotations: [] }],
          };
    const usage = {
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 5,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 15,
    };
    return {
      events: [
        { type: 'response.created', response: { id: `resp_${id}` } },
        { type: 'response.output_item.added', output_index: 0, item },
        { type: 'response.output_item.done', output_index: 0, item },
        {
          type: 'response.completed',
          response: { id: `resp_${id}`, status: 'completed', output: [item], usage },
        },
      ],
    };
  },
};

/** Anthropic's messages: Claude Code. */
const messages: WireFormat = {
  matches: path => path.endsWith('/messages'),
  isNamed: true,
  read: body => ({
    tools: list(body.tools).map(({ name }) => ({ name })),
    results: list(body.messages)
      .flatMap(({ content }) => list(content))
      .filter(({ type }) => type === 'tool_result')
      .map(({ content }) => textOf(content)),
    instructions: textOf(body.system),
    prompts: saidBy(body.messages, 'user'),
  }),
  write: (step, id, { model, stream }) => {
    const block =
      'call' in step
        ? { type: 'tool_use', id: `toolu_${id}`, name: step.call.name, input: step.args }
        : { type: 'text', text: step.text };
    const delta =
      'call' in step
        ? { type: 'input_json_delta', partial_json: JSON.stringify(step.args) }
        : { type: 'text_delta', text: step.text };
    const stop_reason = 'call' in step ? 'tool_use' : 'end_turn';
    const usage = { input_tokens: 10, output_tokens: 5 };
    const message = {
      id: `msg_${id}`,
      type: 'message',
      role: 'assistant',
      model,
      stop_sequence: null,
      usage,
    };
    if (!stream) return { body: { ...message, content: [block], stop_reason } };
    const begun = 'call' in step ? { ...block, input: {} } : { type: 'text', text: '' };
    return {
      events: [
        { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
        { type: 'content_block_start', index: 0, content_block: begun },
        { type: 'content_block_delta', index: 0, delta },
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 5 } },
        { type: 'message_stop' },
      ],
    };
  },
};

export const wireFormats: readonly WireFormat[] = [chat, responses, messages];
