/** A tool call that a person typed. */
export interface TypedCall {
  readonly tool: string;
  readonly arguments: Record<string, unknown>;
}

export type SlashCommand =
  | { readonly kind: 'call'; readonly call: TypedCall }
  | { readonly kind: 'help' }
  /** A known command with arguments that do not fit; `usage` is its form. */
  | { readonly kind: 'malformed'; readonly usage: string };

interface Definition {
  readonly usage: string;
  readonly about: string;
  parse(rest: string): TypedCall | undefined;
}

const definitions: Readonly<Record<string, Definition>> = {
  '/edit': {
    usage: '/edit <file> :: <old> => <new>',
    about: 'propose to replace a text that occurs exactly once',
    parse(rest) {
      const match = /^(.+?)\s+::\s(.+?)\s=>(?:\s(.*))?$/s.exec(rest);
      if (!match) return undefined;
      const [, path = '', old = '', replacement = ''] = match;
      return { tool: 'edit_file', arguments: { path, edits: [{ old, new: replacement }] } };
    },
  },
  '/write': {
    usage: '/write <file> :: <text>',
    about: 'propose the whole content of a file',
    parse(rest) {
      const match = /^(.+?)\s+::(?:\s(.*))?$/s.exec(rest);
      if (!match) return undefined;
      const [, path = '', content = ''] = match;
      return { tool: 'write_file', arguments: { path, content } };
    },
  },
  '/replace': {
    usage: '/replace <pattern> => <rewrite> in <glob>',
    about: 'propose to replace code by its structure; `$A` is any one node, `$$$A` any number',
    parse(rest) {
      // The arrow with white space around it, and the last `in`: both may stand in code too.
      const match = /^(.+?)\s=>(?:\s+(.*?))??\s+in\s+(\S+)$/s.exec(rest.trim());
      if (!match) return undefined;
      const [, pat = '', out = '', glob = ''] = match;
      return { tool: 'ast_edit', arguments: { ops: [{ pat: pat.trim(), out }], paths: [glob] } };
    },
  },
};

const HELP = '/help';

/** What a prompt that begins with a known command means; `undefined` for every other prompt, paths included. */
export function parseSlashCommand(prompt: string): SlashCommand | undefined {
  const [, name = '', rest = ''] = /^(\/[a-z-]+)(?:\s+(.*))?$/s.exec(prompt.trim()) ?? [];
  if (name === HELP) return { kind: 'help' };
  const definition = Object.hasOwn(definitions, name) ? definitions[name] : undefined;
  if (!definition) return undefined;
  const call = definition.parse(rest);
  return call ? { kind: 'call', call } : { kind: 'malformed', usage: definition.usage };
}

/** A line for each command. */
export function slashCommandHelp(): string {
  const rows = Object.values(definitions).map(({ usage, about }) => `- \`${usage}\`: ${about}`);
  return [...rows, `- \`${HELP}\`: this list`].join('\n');
}
