import type { AgentName } from '../agent/preview/preview.ts';
import { oneLine } from './plainText.ts';

/** An agent of another program, as the user reads it: `Claude Code 2.1.0`. */
export function agentLabel({ name, version }: AgentName): string {
  return oneLine(`${name} ${version}`.trim());
}
