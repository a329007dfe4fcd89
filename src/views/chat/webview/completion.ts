import { refLabel } from '../attachmentRef.ts';
import type { HostMessage } from '../protocol.ts';
import type { Port } from './port.ts';
import type { Suggestion } from './suggestions.ts';

type Commands = Extract<HostMessage, { type: 'snapshot' }>['commands'];

/** The word that is being typed and that a list can complete. */
export interface Typed {
  readonly kind: 'command' | 'file';
  /** Where it begins in the text, its `/` or `@` included. */
  readonly start: number;
  readonly end: number;
  /** Behind the `@`; a command with its slash. */
  readonly word: string;
}

/** What the cursor stands behind: a command at the very beginning, or an `@` at the beginning of a word. */
export function typedBefore(text: string, cursor: number): Typed | undefined {
  const head = text.slice(0, cursor);
  if (/^\/[a-z-]*$/.test(head)) return { kind: 'command', start: 0, end: cursor, word: head };
  const [, word] = /(?:^|[\s(])@([^\s@]*)$/.exec(head) ?? [];
  return word === undefined
    ? undefined
    : { kind: 'file', start: cursor - word.length - 1, end: cursor, word };
}

/** Finds what fits a typed word: commands at once, files when the host answers. */
export class Completion {
  readonly #port: Port;
  readonly #commands: Commands;
  #request = 0;

  constructor(port: Port, commands: Commands) {
    this.#port = port;
    this.#commands = commands;
  }

  /** Whether a text is a command, whatever its arguments. */
  isCommand(text: string): boolean {
    const [name] = text.trimStart().split(/\s/, 1);
    return this.#commands.some(command => command.name === name);
  }

  /** Whether a command can be sent as it is. */
  isComplete(name: string): boolean {
    return this.#commands.some(command => command.name === name && !command.usage.includes('<'));
  }

  /** What fits, or `undefined` when the host was asked. Earlier questions are void. */
  find(typed: Typed | undefined): readonly Suggestion[] | undefined {
    this.#request += 1;
    if (typed?.kind === 'file') {
      this.#port.post({ type: 'findFiles', request: this.#request, query: typed.word });
      return undefined;
    }
    if (!typed) return [];
    return this.#commands
      .filter(({ name }) => name.startsWith(typed.word))
      .map(({ name, usage, about }) => ({ text: name, label: usage, detail: about, icon: 'symbol-event' }));
  }

  /** The host's answer; `undefined` if it is not to the last question. */
  answer({ request, paths }: Extract<HostMessage, { type: 'files' }>): readonly Suggestion[] | undefined {
    if (request !== this.#request) return undefined;
    return paths.map(path => ({
      text: `@${path}`,
      label: refLabel({ path }),
      detail: path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '',
      icon: 'file',
    }));
  }
}
