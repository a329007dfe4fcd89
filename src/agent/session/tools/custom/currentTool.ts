import { AsyncLocalStorage } from 'node:async_hooks';
import type { TextSide } from '../../../hold/preview/fileChange.ts';
import type { PendingAction } from '../../../hold/preview/pendingAction.ts';
import type { Preview } from '../../../hold/preview/preview.ts';
import type { Tool } from '../tool.ts';
import type { ToolOwner } from './toolOwner.ts';

/** A call of a custom tool that is running. */
export interface RunningCall {
  readonly tool: Tool;
  /** Stages a preview of this call. */
  stage(action: PendingAction): Preview;
  /** The files that the call has read, by workspace path. */
  readonly filesRead: Map<string, TextSide>;
  /** Whether the call has returned its result. Code of the tool that still runs after that belongs to no call. */
  ended: boolean;
}

interface Scope {
  readonly owner: ToolOwner;
  readonly call?: RunningCall;
}

/**
 * Knows which custom tool's code is running, across every `await`, timer and callback that the code starts. So a tool need
 * not say who it is when it stages a preview, and Redline can forbid things to tools alone.
 */
export class CurrentTool {
  readonly #storage = new AsyncLocalStorage<Scope | undefined>();

  /** Runs code of a tool; `call` is `undefined` for code outside any call. */
  run<T>(owner: ToolOwner, call: RunningCall | undefined, work: () => T): T {
    return this.#storage.run(call ? { owner, call } : { owner }, work);
  }

  /** Runs Redline's own code on behalf of a tool; neither it nor anything that it starts counts as the tool's code. */
  runOutside<T>(work: () => T): T {
    return this.#storage.run(undefined, work);
  }

  /** The owner of the running code; `undefined` if it is not a custom tool's. */
  get owner(): ToolOwner | undefined {
    return this.#storage.getStore()?.owner;
  }

  /** The call that started the running code, even if that call has ended. */
  get startedBy(): RunningCall | undefined {
    return this.#storage.getStore()?.call;
  }

  /** The call that the running code is part of; `undefined` once it has ended. */
  get call(): RunningCall | undefined {
    const call = this.startedBy;
    return call?.ended === false ? call : undefined;
  }
}
