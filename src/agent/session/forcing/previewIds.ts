import { isRecord, parsedJson } from '../../base/json.ts';
import type { ToolCall } from '../model/messages.ts';

/** Ids of previews as we write them: p1 for 1. */
export function idOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(idOf);
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && /^[1-9]\d*$/.test(text) ? `p${text}` : value;
}

/** The id of the preview that the call is to amend, if it is to amend one. */
export function amendedBy(call: ToolCall): string | undefined {
  const given = parsedJson(call.arguments);
  const id = isRecord(given) ? idOf(given['amend']) : undefined;
  return typeof id === 'string' && id !== '' ? id : undefined;
}
