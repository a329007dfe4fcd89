import type { Attachment } from '../model/messages.ts';

/** A prompt of the user. */
export interface Prompt {
  readonly text: string;
  readonly attachments: readonly Attachment[];
}

/** A prompt that waits for its turn. */
export interface QueuedPrompt extends Prompt {
  /** `q1`, `q2`, …; never used again in this window. */
  readonly id: string;
  /** It waited when the window closed, and the user has asked for nothing since. */
  readonly isRestored?: true;
}

export type PromptQueueEvent =
  /** A prompt was added to `Session.queue`, or left it. */
  | { readonly type: 'queue_changed' }
  /** These prompts were waiting when the session was stopped, and were not sent. */
  | { readonly type: 'prompts_returned'; readonly prompts: readonly Prompt[] };

/** The prompts of the user that wait for their turn, in order. Each leaves it once: to be sent, or back to the user. */
export class PromptQueue {
  readonly #emit: (event: PromptQueueEvent) => void;
  #prompts: readonly QueuedPrompt[] = [];
  #lastNumber = 0;
  #moment = 0;

  constructor(emit: (event: PromptQueueEvent) => void) {
    this.#emit = emit;
  }

  get list(): readonly QueuedPrompt[] {
    return this.#prompts;
  }

  /** Another number once prompts were given back, by a stop or a revert, and once another conversation is open. */
  get moment(): number {
    return this.#moment;
  }

  /** Begins another moment: a prompt that was written before it, but is added only after it, goes back to the user. */
  pass(): void {
    this.#moment++;
  }

  add(prompt: Prompt): void {
    this.#set([...this.#prompts, this.#queued(prompt)]);
  }

  /** Gives a prompt back to the user that cannot be added any more. */
  refuse(prompt: Prompt): void {
    this.#emit({ type: 'prompts_returned', prompts: [prompt] });
  }

  /** Adds prompts that waited when the window closed, before all others. They are sent with the next one. */
  restore(prompts: readonly Prompt[]): void {
    if (prompts.length === 0) return;
    const restored = prompts.map(prompt => ({ ...this.#queued(prompt), isRestored: true }) as const);
    this.#set([...restored, ...this.#prompts]);
  }

  /** The window closes: no prompt is sent or given back any more. */
  close(): void {
    this.#prompts = [];
  }

  /** Removes the first prompt, which is sent now. */
  next(): Prompt | undefined {
    const [first, ...rest] = this.#prompts;
    if (first) this.#set(rest);
    return first;
  }

  /** Takes a prompt back. @returns `undefined` if it no longer waits. */
  takeBack(id: string): Prompt | undefined {
    const found = this.#prompts.find(prompt => prompt.id === id);
    if (found) this.#set(this.#prompts.filter(prompt => prompt !== found));
    return found;
  }

  /** Gives all prompts back to the user: listeners offer them for sending again. */
  giveBack(): void {
    this.pass();
    const prompts = this.#prompts;
    if (prompts.length === 0) return;
    this.#set([]);
    this.#emit({ type: 'prompts_returned', prompts });
  }

  #queued({ text, attachments }: Prompt): QueuedPrompt {
    return { text, attachments, id: `q${++this.#lastNumber}` };
  }

  #set(prompts: readonly QueuedPrompt[]): void {
    this.#prompts = prompts;
    this.#emit({ type: 'queue_changed' });
  }
}
