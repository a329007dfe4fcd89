import { isRecord, parsedJson } from '../../agent/base/json.ts';
import type { Localiser } from '../../agent/base/localiser.ts';
import { fenced } from '../../agent/base/phrases.ts';
import type { SentRequest } from '../../agent/session/request.ts';

/**
 * A request to a model as Markdown: a heading for each message and tool. It accepts the format of any server: parts that it does
 * not know are shown as JSON.
 * @param time when it was sent, in words.
 */
export function requestText({ provider, body }: SentRequest, time: string, l10n: Localiser): string {
  const { messages, tools, ...parameters } = isRecord(body) ? body : { body };
  const parts = [
    `# ${l10n.t('Last Request')}`,
    l10n.t('Sent to {0}: {1}', `\`${provider}\``, time),
    `## ${l10n.t('Parameters')}`,
    ...blocks(parameters),
    `## ${l10n.t('Messages')}`,
    ...listOf(messages).flatMap((message, index) => section(message, 'role', `${index + 1}. `)),
    `## ${l10n.t('Tools')}`,
    // OpenAI-compatible servers wrap each tool.
    ...listOf(tools).flatMap(tool =>
      section(isRecord(tool) && isRecord(tool['function']) ? tool['function'] : tool, 'name', ''),
    ),
  ];
  return `${parts.join('\n\n')}\n`;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value];
}

/** A heading with the property `title` of `value`, and below it everything else. */
function section(value: unknown, title: string, number: string): string[] {
  if (!isRecord(value)) return [`### ${number}`, ...blocks(value)];
  const { [title]: name, ...rest } = value;
  return [`### ${number}${String(name)}`, ...blocks(rest)];
}

/** Texts as they are, one block each, and the rest as JSON. */
function blocks(value: unknown): string[] {
  if (typeof value === 'string') return [fenced(value, 'text')];
  if (Array.isArray(value)) return value.flatMap(blocks);
  if (!isRecord(value)) return [fenced(json(value), 'json')];
  const { content, parts, text, description, ...rest } = value;
  const texts = [description, content, text, parts].filter(each => each !== undefined && each !== null);
  const isText = rest['type'] === 'text' && Object.keys(rest).length === 1;
  const others = isText || Object.keys(rest).length === 0 ? [] : [fenced(json(rest), 'json')];
  return [...texts.flatMap(blocks), ...others];
}

/** JSON in which the arguments of calls, which are JSON texts themselves, are readable. */
function json(value: unknown): string {
  const readable = (name: string, each: unknown): unknown => {
    const parsed = name === 'arguments' && typeof each === 'string' ? parsedJson(each) : undefined;
    return parsed === undefined ? each : parsed; // malformed: as the model wrote it
  };
  return JSON.stringify(value, readable, 2) ?? String(value);
}
