import { escapeInvisible } from '../../../plainText.ts';
import { attachmentLabel } from '../../attachments/attachmentRefs.ts';
import { type HostMessage } from '../../protocol.ts';
import { post } from '../host.ts';
import type { Suggestion } from './suggestions.ts';

type Commands = Extract<HostMessage, { type: 'snapshot' }>['commands'];

/** The word being typed, if a list can complete it. */
export interface Typed {
  readonly kind: 'command' | 'file';
  /** Its start in the text, including its `/` or `@`. */
  readonly start: number;
  readonly end: number;
  /** A file without its `@`; a command with its slash. */
  readonly word: string;
}

/** The word before the cursor: a command at the start of the text, or a word that starts with `@`. */
export function typedBefore(text: string, cursor: number): Typed | undefined {
  const head = text.slice(0, cursor);
  if (/^\/[a-z-]*$/.test(head)) return { kind: 'command', start: 0, end: cursor, word: head };
  const [, word] = /(?:^|[\s(])@([^\s@]*)$/.exec(head) ?? [];
  return word === undefined
    ? undefined
    : { kind: 'file', start: cursor - word.length - 1, end: cursor, word };
}

/** Finds suggestions for a typed word: commands at once, files when the host answers. */
export class Completion {
  readonly #commands: Commands;
  #request = 0;

  constructor(commands: Commands) {
    this.#commands = commands;
  }

  /** Whether a text is a command, with any arguments. */
  isCommand(text: string): boolean {
    const [name] = text.trimStart().split(/\s/, 1);
    return this.#commands.some(command => command.name === name);
  }

  /** Whether a command can be sent as it is. */
  isComplete(name: string): boolean {
    return this.#commands.some(command => command.name === name && !command.usage.includes('<'));
  }

  /** The suggestions, or `undefined` if the host was asked. Answers to earlier requests are ignored from now on. */
  find(typed: Typed | undefined): readonly Suggestion[] | undefined {
    this.#request += 1;
    if (typed?.kind === 'file') {
      post({ type: 'findFiles', request: this.#request, query: typed.word });
      return undefined;
    }
    if (!typed) return [];
    return this.#commands
      .filter(({ name }) => name.startsWith(typed.word))
      .map(({ name, usage, about }) => ({ text: name, label: usage, detail: about, icon: 'symbol-event' }));
  }

  /** The suggestions in the host's answer; `undefined` if it does not answer the last request. */
  answer({ request, paths }: Extract<HostMessage, { type: 'files' }>): readonly Suggestion[] | undefined {
    if (request !== this.#request) return undefined;
    return paths.map(path => ({
      text: `@${path}`,
      label: attachmentLabel({ path }),
      detail: path.includes('/') ? escapeInvisible(path.slice(0, path.lastIndexOf('/'))) : '',
      icon: 'file',
    }));
  }
}
