import type { Disposable } from '../../base/disposable.ts';
import { ToolError } from '../../base/errors.ts';
import type { ModelAuthority } from '../../hold/preview/resolveSettings.ts';
import type { Tool } from './tool.ts';

/** The tools that are registered at the moment, by name. A name belongs to the first tool that registers it. */
export class ToolRegistry {
  readonly #tools = new Map<string, Tool>();

  /**
   * Registers a tool until the result is disposed of. A call that is running then continues to its end.
   * @throws ToolError when the name is taken.
   */
  register(tool: Tool): Disposable {
    const { name } = tool;
    if (this.#tools.has(name)) throw new ToolError(`There is already a tool named ${name}.`);
    this.#tools.set(name, tool);
    return { dispose: () => this.#tools.get(name) === tool && this.#tools.delete(name) };
  }

  /** Whether the name is taken, even by a tool that is disabled at the moment. */
  has(name: string): boolean {
    return this.#tools.has(name);
  }

  get(name: string): Tool | undefined {
    const tool = this.#tools.get(name);
    return tool && isEnabled(tool) ? tool : undefined;
  }

  /** The enabled tools that the user may see and name. */
  list(): readonly Tool[] {
    return this.#enabled().filter(tool => !tool.hidden);
  }

  /**
   * The enabled tools for a session: those requested by name (default: all), and every hidden one, which cannot be
   * requested and is always included.
   */
  createTools(requested?: readonly string[]): readonly Tool[] {
    return this.#enabled().filter(
      tool => tool.hidden === true || requested === undefined || requested.includes(tool.name),
    );
  }

  #enabled(): Tool[] {
    return [...this.#tools.values()].filter(isEnabled);
  }
}

/**
 * The offered tools that may be called now. In plan mode: the read-only ones, and `resolve` to submit the plan. In Manual mode all
 * but `resolve`. All are offered in each mode, for the sake of the server's prompt cache.
 */
export function callableTools(
  offered: readonly Tool[],
  { planMode, authority }: { readonly planMode: boolean; readonly authority: ModelAuthority },
): readonly Tool[] {
  return offered.filter(({ name, readOnly }) =>
    name === 'resolve' ? planMode || authority !== 'none' : !planMode || readOnly === true,
  );
}

function isEnabled(tool: Tool): boolean {
  return tool.isEnabled?.() ?? true;
}
