import { slashNames, type SlashName } from './slashNames.ts';
import { revertCategories, type RevertCategory } from './revertCategories.ts';

/** A tool call that a person typed. */
export interface TypedCall {
  readonly tool: string;
  readonly arguments: Record<string, unknown>;
}

/**
 * What a person does by typing it: no prompt, and never the model's business. Whoever shows a composer carries it out;
 * a session that is given one as a prompt only says where it works.
 */
export type LocalCommand =
  /** A vote on one preview; without an id on the one that is shown, else on the head. */
  | {
      readonly kind: 'vote';
      readonly action: 'apply' | 'discard';
      readonly id?: string;
      readonly reason?: string;
    }
  | { readonly kind: 'discardAll' }
  /** A person takes the conversation back. */
  | {
      readonly kind: 'revert';
      readonly target: number;
      readonly category: RevertCategory;
      readonly summary?: string;
    }
  /** The list of the tools. */
  | { readonly kind: 'tools' }
  | { readonly kind: 'help' }
  /** A known command with arguments that do not fit; `usage` is its form. */
  | { readonly kind: 'malformed'; readonly usage: string };

export type SlashCommand = { readonly kind: 'call'; readonly call: TypedCall } | LocalCommand;

/** A command as a completion list shows it. */
export interface SlashCommandInfo {
  /** With the slash. */
  readonly name: string;
  readonly usage: string;
  readonly about: string;
}

interface Definition {
  /** `<required>`, `[optional]`. */
  readonly usage: string;
  readonly about: string;
  /**
   * `undefined` for what does not have the form of `usage`.
   * @param typed the same as `rest` with the white space at its end, where every character counts.
   */
  parse(rest: string, typed: string): TypedCall | LocalCommand | undefined;
}

const definitions: Readonly<Record<SlashName, Definition>> = {
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
    parse(_, typed) {
      const match = /^(.+?)\s+::(?:\s(.*))?$/s.exec(typed);
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
  '/delete': {
    usage: '/delete <file>',
    about: 'propose to delete a file',
    parse: rest => (rest.trim() ? { tool: 'delete_file', arguments: { path: rest.trim() } } : undefined),
  },
  '/rename': {
    usage: '/rename <file> => <new path>',
    about: 'propose to rename or move a file',
    parse(rest) {
      const match = /^(.+?)\s+=>\s+(.+)$/s.exec(rest.trim());
      if (!match) return undefined;
      const [, from = '', to = ''] = match;
      return { tool: 'rename_file', arguments: { from, to } };
    },
  },
  '/apply': {
    usage: '/apply [id]',
    about: 'apply the preview with this id, else the one that is shown, else the head',
    parse(rest) {
      const [, id] = /^(p[1-9]\d*)?$/.exec(rest) ?? [];
      if (rest !== '' && id === undefined) return undefined;
      return { kind: 'vote', action: 'apply', ...(id === undefined ? {} : { id }) };
    },
  },
  '/discard': {
    usage: '/discard [id] [reason]',
    about: 'discard a preview; the model is told the reason',
    parse(rest) {
      const [, id, reason = ''] = /^(p[1-9]\d*(?!\S))?\s*(.*)$/s.exec(rest) ?? [];
      return {
        kind: 'vote',
        action: 'discard',
        ...(id === undefined ? {} : { id }),
        ...(reason === '' ? {} : { reason }),
      };
    },
  },
  '/discard-all': {
    usage: '/discard-all',
    about: 'discard everything that is pending',
    parse: rest => (rest === '' ? { kind: 'discardAll' } : undefined),
  },
  '/revert': {
    usage: '/revert <node> <category> [summary]',
    about:
      'take the conversation back to a node such as `n12`, and tell the model what to remember; the category is ' +
      '`failure`, `tangent`, `completion` or `step-summary`',
    parse(rest) {
      const [, node = '', category = '', summary = ''] =
        /^(n?\d+)\s+([a-z-]+)(?:\s+(.+))?$/s.exec(rest) ?? [];
      const known = revertCategories.find(candidate => candidate === category);
      const target = Number(node.replace('n', ''));
      if (!known || !Number.isSafeInteger(target)) return undefined;
      return { kind: 'revert', target, category: known, ...(summary === '' ? {} : { summary }) };
    },
  },
  '/tools': {
    usage: '/tools',
    about: 'list the tools of the agent',
    parse: rest => (rest === '' ? { kind: 'tools' } : undefined),
  },
  '/call': {
    usage: '/call <tool> [json]',
    about: 'call a tool with arguments as one JSON object',
    parse(rest) {
      const [, tool = '', json = '{}'] = /^([^\s{]+)(?:\s+(.+))?$/s.exec(rest) ?? [];
      const args = objectIn(json);
      return tool === '' || !args ? undefined : { tool, arguments: args };
    },
  },
  '/help': {
    usage: '/help',
    about: 'this list',
    parse: () => ({ kind: 'help' }),
  },
};

/** What a prompt that begins with a known command means; `undefined` for every other prompt, paths included. */
export function parseSlashCommand(prompt: string): SlashCommand | undefined {
  const [, name = '', typed = ''] = /^(\/[a-z-]+)(?:\s+(.*))?$/s.exec(prompt.trimStart()) ?? [];
  const definition = isKnown(name) ? definitions[name] : undefined;
  if (!definition) return undefined;
  const parsed = definition.parse(typed.trimEnd(), typed);
  if (!parsed) return { kind: 'malformed', usage: definition.usage };
  return 'tool' in parsed ? { kind: 'call', call: parsed } : parsed;
}

/** Every command, in the order of the help. */
export function slashCommands(): readonly SlashCommandInfo[] {
  return Object.entries(definitions).map(([name, { usage, about }]) => ({ name, usage, about }));
}

/** A line for each command. */
export function slashCommandHelp(): string {
  return slashCommands()
    .map(({ usage, about }) => `- \`${usage}\`: ${about}`)
    .join('\n');
}

function objectIn(json: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(json) as unknown;
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

function isKnown(name: string): name is SlashName {
  return slashNames.some(known => known === name);
}
