import type { Disposable } from '../../../base/disposable.ts';
import type { ToolRegistry } from '../registry.ts';
import type { LoadedTool } from './customTool.ts';
import type { LoadedTools } from './loading/toolLoader.ts';
import type { CustomToolSessionEvent } from '../../../../../examples/tools/redline.d.ts';
import type { ToolOwner } from './toolOwner.ts';

interface Entry {
  readonly owner: ToolOwner;
  readonly registration: Disposable;
}

/** The custom tools in the registry. The first to take a name keeps it; the owner of a later one gets a fault. */
export class RegisteredTools {
  readonly #registry: ToolRegistry;
  readonly #sessionId: () => string;
  #owners: ReadonlySet<ToolOwner> = new Set();
  #entries: ReadonlyMap<LoadedTool, Entry> = new Map();

  constructor(registry: ToolRegistry, sessionId: () => string) {
    this.#registry = registry;
    this.#sessionId = sessionId;
  }

  /**
   * Replaces the registered tools, in this order and synchronously, so that no request sees half of them. Tools that are
   * added get the session event `start`, tools that are removed `shutdown`.
   */
  replace(loaded: readonly LoadedTools[]): void {
    const before = this.#entries;
    const owners = new Set(loaded.map(({ owner }) => owner));
    for (const owner of this.#owners) if (!owners.has(owner)) owner.state = 'removed';
    this.#owners = owners;
    for (const { registration } of before.values()) registration.dispose();
    const entries = new Map<LoadedTool, Entry>();
    this.#entries = entries;
    for (const { owner, tools } of loaded) {
      owner.retractNameTaken();
      for (const tool of tools) {
        const registration = this.#register(tool, owner);
        if (registration) entries.set(tool, { owner, registration });
      }
    }
    for (const tool of before.keys()) {
      if (!entries.has(tool)) tool.onSession({ reason: 'shutdown', sessionId: this.#sessionId() });
    }
    for (const tool of entries.keys()) {
      if (!before.has(tool)) tool.onSession({ reason: 'start', sessionId: this.#sessionId() });
    }
  }

  /** Tells every tool about its session. */
  sendSessionEvent(event: CustomToolSessionEvent): void {
    for (const tool of this.#entries.keys()) tool.onSession(event);
  }

  #register({ tool }: LoadedTool, owner: ToolOwner): Disposable | undefined {
    const { name } = tool;
    if (!this.#registry.has(name)) return this.#registry.register(tool);
    const other = [...this.#entries].find(([known]) => known.tool.name === name)?.[1].owner.origin;
    owner.report({
      kind: 'nameTaken',
      name,
      ...(other?.kind === 'file' ? { by: other.file } : {}),
    });
    return undefined;
  }
}
