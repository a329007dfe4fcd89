import { isRecord, parsedJson } from '../../../base/json.ts';
import { english, type Sentence } from '../../../base/localiser.ts';
import { revertCategories, type RevertCategory } from '../messages.ts';

/** The prompt that begins the tour. */
export const TOUR = '/tour';

/** The file with the fault in the tour's project (media/tour). The tour begins by reading it. */
export const TOUR_FILE = 'src/cart.js';

/** A tool call that the user typed as a command. */
export interface TypedCall {
  readonly tool: string;
  readonly arguments: Record<string, unknown>;
}

/**
 * A command that is carried out by the view it is typed in, without any model. A provider that receives one as a prompt
 * only says where it works.
 */
export type LocalCommand =
  /** Applies or discards one preview: the one with the id, else the one that is shown, else the first in order. */
  | {
      readonly kind: 'vote';
      readonly action: 'apply' | 'discard';
      readonly id?: string;
      readonly reason?: string;
    }
  | { readonly kind: 'discardAll' }
  /** Reverts the conversation to a node. */
  | {
      readonly kind: 'revert';
      readonly target: number;
      readonly category: RevertCategory;
      readonly summary?: string;
    }
  /** Lists the tools. */
  | { readonly kind: 'tools' }
  | { readonly kind: 'help' }
  /** A known command with arguments that do not match its `usage`. */
  | { readonly kind: 'malformed'; readonly usage: string };

export type SlashCommand = { readonly kind: 'call'; readonly call: TypedCall } | LocalCommand;

/** A command as the completion list shows it. */
export interface SlashCommandInfo {
  /** With the slash. */
  readonly name: string;
  readonly usage: string;
  readonly about: string;
}

interface Definition {
  /** `<required>`, `[optional]`. */
  readonly usage: string;
  readonly about: Sentence;
  /**
   * Parses the text after the name; `undefined` if it does not match `usage`.
   * @param typed the same as `rest`, but with trailing white space, for commands where every character counts.
   */
  parse(rest: string, typed: string): TypedCall | LocalCommand | undefined;
}

const definitions: Readonly<Record<string, Definition>> = {
  [TOUR]: {
    usage: TOUR,
    about: l10n => l10n.t('play an agent that fixes a failing test, in the small project of the tour'),
    parse: rest => (rest === '' ? { tool: 'read_file', arguments: { path: TOUR_FILE } } : undefined),
  },
  '/edit': {
    usage: '/edit <file> :: <old> => <new>',
    about: l10n => l10n.t('propose to replace text that occurs exactly once'),
    parse(rest) {
      const [, path = '', edit = ''] = /^(.+?)(?<!\s)\s+::\s(.+)$/s.exec(rest) ?? [];
      const [, old = '', replacement = ''] = /^(.+?)\s=>(?:\s(.*))?$/s.exec(edit) ?? [];
      if (old === '') return undefined;
      return { tool: 'edit_file', arguments: { path, edits: [{ old, new: replacement }] } };
    },
  },
  '/write': {
    usage: '/write <file> :: <text>',
    about: l10n => l10n.t('propose the full content of a file'),
    parse(_, typed) {
      const match = /^(.+?)(?<!\s)\s+::(?:\s(.*))?$/s.exec(typed);
      if (!match) return undefined;
      const [, path = '', content = ''] = match;
      return { tool: 'write_file', arguments: { path, content } };
    },
  },
  '/replace': {
    usage: '/replace <pattern> => <rewrite> in <glob>',
    about: l10n =>
      l10n.t('propose a structural replacement; `$A` matches any one node, `$$$A` any number of nodes'),
    parse(rest) {
      // The arrow needs white space around it, and the last `in` counts, because both may occur in code.
      const [, ops = '', glob = ''] = /^(.+)(?<!\s)\s+in\s+(\S+)$/s.exec(rest.trim()) ?? [];
      const [, pat = '', out = ''] = /^(.+?)\s=>(?:\s+(.*))?$/s.exec(ops) ?? [];
      if (pat === '') return undefined;
      return { tool: 'ast_edit', arguments: { ops: [{ pat: pat.trim(), out }], paths: [glob] } };
    },
  },
  '/delete': {
    usage: '/delete <file>',
    about: l10n => l10n.t('propose to delete a file'),
    parse: rest => (rest.trim() ? { tool: 'delete_file', arguments: { path: rest.trim() } } : undefined),
  },
  '/rename': {
    usage: '/rename <file> => <new path>',
    about: l10n => l10n.t('propose to rename or move a file'),
    parse(rest) {
      const match = /^(.+?)(?<!\s)\s+=>\s+(.+)$/s.exec(rest.trim());
      if (!match) return undefined;
      const [, from = '', to = ''] = match;
      return { tool: 'rename_file', arguments: { from, to } };
    },
  },
  '/run': {
    usage: '/run <command>',
    about: l10n => l10n.t('propose to run a command'),
    parse: rest => (rest.trim() ? { tool: 'run_command', arguments: { command: rest.trim() } } : undefined),
  },
  '/apply': {
    usage: '/apply [id]',
    about: l10n =>
      l10n.t('apply the preview with this id, else the one that is shown, else the first in order'),
    parse(rest) {
      const [, id] = /^(p[1-9]\d*)?$/.exec(rest) ?? [];
      if (rest !== '' && id === undefined) return undefined;
      return { kind: 'vote', action: 'apply', ...(id === undefined ? {} : { id }) };
    },
  },
  '/discard': {
    usage: '/discard [id] [reason]',
    about: l10n => l10n.t('discard a preview; the model is told the reason'),
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
    about: l10n => l10n.t('discard all pending previews'),
    parse: rest => (rest === '' ? { kind: 'discardAll' } : undefined),
  },
  '/revert': {
    usage: '/revert <node> <category> [summary]',
    about: l10n =>
      l10n.t(
        'revert the conversation to a node such as `n12` and tell the model what to remember; the category is `failure`, `tangent`, `completion` or `step-summary`',
      ),
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
    about: l10n => l10n.t('list the tools of the agent'),
    parse: rest => (rest === '' ? { kind: 'tools' } : undefined),
  },
  '/call': {
    usage: '/call <tool> [json]',
    about: l10n => l10n.t('call a tool with arguments as one JSON object'),
    parse(rest) {
      // The arguments may be many megabytes long: a pattern that repeats over them would overflow the stack.
      const [tool = ''] = /^[^\s{]+(?!\S)/.exec(rest) ?? [];
      const args = objectIn(rest.slice(tool.length).trim() || '{}');
      return tool === '' || !args ? undefined : { tool, arguments: args };
    },
  },
  '/help': {
    usage: '/help',
    about: l10n => l10n.t('list these commands'),
    parse: () => ({ kind: 'help' }),
  },
};

/**
 * Parses a prompt that begins with a known command; `undefined` for any other prompt, such as one that begins with a
 * path.
 */
export function parseSlashCommand(prompt: string): SlashCommand | undefined {
  const trimmed = prompt.trimStart();
  const [name = ''] = /^\/[a-z-]+(?!\S)/.exec(trimmed) ?? [];
  const definition = Object.hasOwn(definitions, name) ? definitions[name] : undefined;
  if (!definition) return undefined;
  const typed = trimmed.slice(name.length).trimStart();
  const parsed = definition.parse(typed.trimEnd(), typed);
  if (!parsed) return { kind: 'malformed', usage: definition.usage };
  return 'tool' in parsed ? { kind: 'call', call: parsed } : parsed;
}

/** All commands, in the order of the help. */
export function slashCommands(l10n = english): readonly SlashCommandInfo[] {
  return Object.entries(definitions).map(([name, { usage, about }]) => ({ name, usage, about: about(l10n) }));
}

/** The help: a Markdown list with one line for each command. */
export function slashCommandHelp(l10n = english): string {
  return slashCommands(l10n)
    .map(({ usage, about }) => `- \`${usage}\`: ${about}`)
    .join('\n');
}

function objectIn(json: string): Record<string, unknown> | undefined {
  const value = parsedJson(json);
  return isRecord(value) ? value : undefined;
}
