import { isRecord, parsedJson } from '../base/json.ts';
import { summaryInForce } from './conversation/context/summarizedTrunk.ts';
import type { ConversationTree } from './conversation/conversationTree.ts';
import type { NodeId } from './conversation/nodeId.ts';
import type { SessionMessage } from './model/messages.ts';
import type { SessionContext } from './sessionOptions.ts';

/** A file of instructions that the last request contained. */
export interface UsedInstructions {
  readonly path: string;
  /** Only its beginning was sent. */
  readonly isCut: boolean;
}

/**
 * The project's instructions. They are text of the workspace and have the powers of a prompt, no others: no setting, mode, protected
 * place or tool depends on them. The system prompt has those that the conversation begins with, or goes on with after a summary: it
 * stays the same, so that a server need not read everything again. A message says what is found or changed later.
 */
export class Instructions {
  readonly #ctx: SessionContext;
  readonly #named = new NamedPaths();
  #section = '';
  /** The conversation and the summary for which {@link section} was made, and the keys of its files. */
  #begun: { readonly for: string; readonly keys: readonly string[] } | undefined;
  /** The keys of the files found last. */
  #found = '';
  #used: readonly UsedInstructions[] = [];

  constructor(ctx: SessionContext) {
    this.#ctx = ctx;
  }

  /** Whether there is anything to {@link refresh}. */
  get canRefresh(): boolean {
    return this.#ctx.readInstructions !== undefined;
  }

  /** The part of the system prompt with the instructions; empty if there are none. */
  get section(): string {
    return this.#section;
  }

  /** The files that the model was shown, in their order. */
  get used(): readonly UsedInstructions[] {
    return this.#used;
  }

  /** Reads the instructions again, and puts the changes into the inbox. To be awaited before each request. */
  async refresh(): Promise<void> {
    const { readInstructions, conversation, store, logger, emit, inbox } = this.#ctx;
    if (!readInstructions) return;
    const { id, tree } = conversation();
    const workedOn = new Set(this.#named.in(tree));
    for (const { origin, changes } of store.all())
      if (origin?.sessionId === id) for (const { path } of changes ?? []) workedOn.add(path);
    const texts = await import('./instructionTexts.ts');
    const shown = texts.shownInstructions(await readInstructions([...workedOn]));
    const isLeft = (): boolean => conversation().tree !== tree;
    if (isLeft()) return;
    const summary = summaryInForce(tree);
    const begins = `${id} ${summary?.id}`;
    if (this.#begun?.for !== begins) {
      const first = pathsAtBeginning(tree, summary?.id);
      const isSame = first.length === workedOn.size && first.every(path => workedOn.has(path));
      const atFirst = isSame ? shown : texts.shownInstructions(await readInstructions(first));
      if (isLeft()) return;
      this.#begun = { for: begins, keys: atFirst.map(({ key }) => key) };
      this.#section = texts.sectionOf(atFirst);
    }
    const said = tree.steeringFrom(summary ? tree.positionOf(summary.id) : 0);
    const told = [...said, ...inbox.messages].filter(({ kind }) => kind === 'instructions');
    const later = texts.laterInstructions(shown, [
      ...this.#begun.keys,
      ...told.flatMap(({ tells = [] }) => tells),
    ]);
    if (later) inbox.add(later);
    const found = shown.map(({ key }) => key).join('\n');
    if (found === this.#found) return;
    this.#found = found;
    this.#used = shown.flatMap(({ path, part, isCut }) => (part === undefined ? [] : { path, isCut }));
    const names = this.#used.map(({ path }) => path).join(', ');
    logger.info(`Instructions of the project: ${names === '' ? 'none' : names}.`);
    for (const { note } of shown) if (note !== undefined) logger.warn(`Instructions of the project: ${note}`);
    emit({ type: 'instructions_changed' });
  }
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

/** The paths that the conversation names before its first answer, or up to the summary that stands for its beginning. */
function pathsAtBeginning(tree: ConversationTree, summary: NodeId | undefined): readonly string[] {
  const { messages } = tree;
  const end = messages.findIndex((message, at) =>
    summary === undefined ? message.role === 'assistant' : tree.idAt(at) === summary,
  );
  return [...new Set(messages.slice(0, end < 0 ? undefined : end).flatMap(pathsIn))];
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
