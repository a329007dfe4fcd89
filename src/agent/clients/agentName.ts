import type { AgentName } from '../preview/preview.ts';

/** The longest name and version that are kept, in characters. */
const MAX_CHARS = 60;

/** An agent's name as it gives it itself, which may be anything: bounded, on one line, never empty. */
export function agentNameOf(
  given: { readonly name?: unknown; readonly version?: unknown } | undefined,
): AgentName {
  return { name: shortened(given?.name) || 'unnamed agent', version: shortened(given?.version) };
}

function shortened(text: unknown): string {
  if (typeof text !== 'string') return '';
  const line = text
    .slice(0, 10 * MAX_CHARS)
    .replace(/[\s\p{C}]+/gu, ' ')
    .trim();
  return line.length <= MAX_CHARS ? line : `${line.slice(0, MAX_CHARS - 1)}…`;
}
