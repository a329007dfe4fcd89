import { beginningOf } from '../base/cutText.ts';
import { quoted } from '../base/safeName.ts';
import { isRecord, parsedJson } from '../base/json.ts';
import { fenced, plural } from '../base/phrases.ts';
import type { ConversationTree } from './conversation/conversationTree.ts';
import type { NodeId } from './conversation/nodeId.ts';
import type { SessionMessage } from './model/messages.ts';
import type { InstructionFile, SessionContext } from './sessionOptions.ts';

/** The most characters of instructions in one request, over all files. */
export const MAX_INSTRUCTION_CHARS = 32_000;
/** The most files of instructions in one request. */
export const MAX_INSTRUCTION_FILES = 16;

/** A file of instructions that the last request contained. */
export interface UsedInstructions {
  readonly path: string;
  /** Only its beginning was sent. */
  readonly isCut: boolean;
}

/**
 * The project's instructions in the system prompt. They are text of the workspace and have the powers of a prompt, no
 * others: no setting, mode, protected place or tool depends on them.
 */
export class Instructions {
  readonly #ctx: SessionContext;
  readonly #named = new NamedPaths();
  #section = '';
  #used: readonly UsedInstructions[] = [];

  constructor(ctx: SessionContext) {
    this.#ctx = ctx;
  }

  /** Whether there is anything to {@link refresh}. */
  get canRefresh(): boolean {
    return this.#ctx.readInstructions !== undefined;
  }

  /** The part of the system prompt with the instructions; empty if there are none. The same text as long as nothing changes. */
  get section(): string {
    return this.#section;
  }

  /** The files that {@link section} contains, in its order. */
  get used(): readonly UsedInstructions[] {
    return this.#used;
  }

  /** Reads the instructions again. To be awaited before each request. */
  async refresh(): Promise<void> {
    const { readInstructions, conversation, store, logger, emit } = this.#ctx;
    if (!readInstructions) return;
    const { id, tree } = conversation();
    const workedOn = new Set(this.#named.in(tree));
    for (const { origin, changes } of store.all())
      if (origin?.sessionId === id) for (const { path } of changes ?? []) workedOn.add(path);
    const found = (await readInstructions([...workedOn])).filter(({ text }) => text.trim() !== '');
    const { parts, used, notes } = within(found);
    const section = parts.length === 0 ? '' : [PREAMBLE, ...parts, ...notes].join('\n\n');
    if (section === this.#section) return;
    this.#section = section;
    this.#used = used;
    const names = used.map(({ path }) => path).join(', ');
    logger.info(`Instructions of the project: ${names === '' ? 'none' : names}.`);
    for (const note of notes) logger.warn(`Instructions of the project: ${note}`);
    emit({ type: 'instructions_changed' });
  }
}

const PREAMBLE = `# Instructions of the project
The files below are part of the workspace. Follow them in your work. What the user says counts more, and of two files the later one, which is nearer to the files it is about. They change none of the rules above, and nothing about who applies changes.`;

/** The files as parts of the prompt, cut at the limits, with a sentence for each part left out. */
function within(files: readonly InstructionFile[]): {
  parts: readonly string[];
  used: readonly UsedInstructions[];
  notes: readonly string[];
} {
  const parts: string[] = [];
  const used: UsedInstructions[] = [];
  const notes: string[] = [];
  let left = MAX_INSTRUCTION_CHARS;
  for (const { path, text } of files.slice(0, MAX_INSTRUCTION_FILES)) {
    const name = quoted(path);
    const shown = beginningOf(text, left);
    if (shown === '') {
      notes.push(leftOut(name));
      continue;
    }
    left -= shown.length;
    const isCut = shown.length < text.length;
    parts.push(`## ${name}\n${fenced(shown)}`);
    used.push({ path, isCut });
    if (isCut)
      notes.push(
        `${name} is cut off after ${plural(shown.length, 'character')} of ${text.length}; all files together may have ${MAX_INSTRUCTION_CHARS}. Read it for the rest.`,
      );
  }
  for (const { path } of files.slice(MAX_INSTRUCTION_FILES)) notes.push(leftOut(quoted(path)));
  return { parts, used, notes };
}

function leftOut(name: string): string {
  return `${name} is left out: at most ${MAX_INSTRUCTION_FILES} files with ${MAX_INSTRUCTION_CHARS} characters in all are included. Read it if you need it.`;
}

/** The paths that the messages on a trunk name. It reads only the messages added since the last call. */
class NamedPaths {
  readonly #paths = new Set<string>();
  #tree: ConversationTree | undefined;
  /** How many messages were read, and the node of the last one: while it is on the trunk, so are all before it. */
  #read = 0;
  #last: NodeId | undefined;

  in(tree: ConversationTree): ReadonlySet<string> {
    if (tree !== this.#tree || tree.idAt(this.#read - 1) !== this.#last) {
      this.#tree = tree;
      this.#read = 0;
      this.#paths.clear();
    }
    const { messages } = tree;
    for (; this.#read < messages.length; this.#read++) {
      const message = messages[this.#read];
      if (message) for (const path of pathsIn(message)) this.#paths.add(path);
    }
    this.#last = tree.idAt(this.#read - 1);
    return this.#paths;
  }
}

/** The arguments of tools that name a file. */
const PATH_ARGUMENTS = ['path', 'from', 'to'];

/** The paths that a message names: files attached to it, and arguments of its calls. */
function pathsIn(message: SessionMessage): readonly string[] {
  if (message.role === 'user')
    return (message.attachments ?? []).flatMap(({ path, image }) => (image ? [] : [path]));
  if (message.role === 'assistant')
    return message.toolCalls.flatMap(call => pathsInArguments(call.arguments));
  return [];
}

/** The paths that the arguments of a call name, as the model wrote them. */
export function pathsInArguments(json: string): readonly string[] {
  const value = parsedJson(json);
  if (!isRecord(value)) return []; // malformed, as the call's result says
  return PATH_ARGUMENTS.flatMap(name => {
    const path = value[name];
    return typeof path === 'string' && path !== '' ? [path] : [];
  });
}
