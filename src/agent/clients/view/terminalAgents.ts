/** An agent that works in a terminal, and the paths of its sign-in, settings and conversations in the home folder. */
export interface TerminalAgent {
  /** The name of its program. */
  readonly program: string;
  readonly name: string;
  /** Relative to the home folder; a slash at the end marks a folder. */
  readonly home: readonly string[];
}

/** The agents whose folders are known. */
export const terminalAgents: readonly TerminalAgent[] = [
  { program: 'claude', name: 'Claude Code', home: ['.claude/', '.claude.json'] },
  { program: 'codex', name: 'Codex', home: ['.codex/'] },
  { program: 'copilot', name: 'Copilot CLI', home: ['.copilot/'] },
  {
    program: 'opencode',
    name: 'opencode',
    home: ['.config/opencode/', '.local/share/opencode/', '.local/state/opencode/', '.cache/opencode/'],
  },
  { program: 'gemini', name: 'Gemini CLI', home: ['.gemini/'] },
  { program: 'qwen', name: 'Qwen Code', home: ['.qwen/'] },
];

/** Paths in a workspace where agents keep their own settings. */
export const AGENT_SETTINGS =
  /(^|\/)(\.(claude|codex|copilot|gemini|opencode|qwen)\/|\.github\/hooks\/|(\.mcp\.json|opencode\.jsonc?)$)/;
