import type { ClientTool } from '../clientTools.ts';

/** A tool as the protocol describes it. */
export function mcpToolOf({ name, label, description, parameters, readOnly }: ClientTool) {
  return {
    name,
    title: label,
    description,
    inputSchema: { ...parameters, type: 'object' as const },
    // Proposing changes nothing on disk; whether a vote does is up to the user's settings.
    annotations: { readOnlyHint: readOnly, destructiveHint: name === 'resolve', openWorldHint: false },
  };
}
