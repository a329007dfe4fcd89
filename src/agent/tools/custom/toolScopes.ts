import { AsyncLocalStorage } from 'node:async_hooks';
import type { PendingAction } from '../../preview/pendingAction.ts';
import type { FileSide } from '../../preview/fileChange.ts';
import type { Preview } from '../../preview/preview.ts';
import type { Tool } from '../tool.ts';
import type { ToolOwner } from './toolOwner.ts';

/** A call of a custom tool that is running. */
export interface RunningCall {
  readonly tool: Pick<Tool, 'name' | 'readOnly'>;
  /** Registers a preview of this call at once. */
  push(action: PendingAction): Preview;
  /** What the call has read, by workspace path. */
  readonly sides: Map<string, FileSide>;
  /** It gave its result; what goes on after that is nobody's call. */
  ended: boolean;
}

interface Scope {
  readonly owner: ToolOwner;
  readonly call?: RunningCall;
}

/**
 * Knows which tool's code is running, over every `await`, timer and callback that it begins. By this a tool need not say
 * who it is when it stages a preview, and what it must not do is held back from it alone.
 */
export class ToolScopes {
  readonly #scopes = new AsyncLocalStorage<Scope | undefined>();

  run<T>(owner: ToolOwner, call: RunningCall | undefined, work: () => T): T {
    return this.#scopes.run(call ? { owner, call } : { owner }, work);
  }

  /** What Redline does for a tool is not the tool's code, nor is anything that follows from it. */
  leave<T>(work: () => T): T {
    return this.#scopes.run(undefined, work);
  }

  /** Whose code this is; `undefined` for all code that is no custom tool's. */
  get owner(): ToolOwner | undefined {
    return this.#scopes.getStore()?.owner;
  }

  /** The call that began this, also after it has ended. */
  get begunBy(): RunningCall | undefined {
    return this.#scopes.getStore()?.call;
  }

  /** The call that this is part of, until it has ended. */
  get call(): RunningCall | undefined {
    const call = this.begunBy;
    return call?.ended === false ? call : undefined;
  }
}
