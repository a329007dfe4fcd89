import * as z from 'zod/mini';
import { ToolError } from '../base/errors.ts';
import type { ToolSpec } from '../model/chatProvider.ts';
import type { ModelAuthority } from '../preview/preview.ts';
import type { Tool } from './tool.ts';

/** All tools by name. The first to take a name keeps it. */
export class ToolRegistry {
  readonly #tools = new Map<string, Tool>();

  /** @throws ToolError when the name is taken. */
  register(tool: Tool): void {
    if (this.#tools.has(tool.name)) throw new ToolError(`There is already a tool named ${tool.name}.`);
    this.#tools.set(tool.name, tool);
  }

  get(name: string): Tool | undefined {
    const tool = this.#tools.get(name);
    return tool && isEnabled(tool) ? tool : undefined;
  }

  /** The tools that people may see and name. */
  list(): readonly Tool[] {
    return this.#enabled().filter(tool => !tool.hidden);
  }

  /**
   * The tools for a session: those requested by name (all when left out), and every hidden one, which cannot be
   * requested and is always there. `resolve` is left out where the human alone resolves.
   */
  createTools(requested?: readonly string[], { withResolve = true } = {}): readonly Tool[] {
    return this.#enabled().filter(tool => {
      if (tool.name === 'resolve') return withResolve;
      return tool.hidden === true || requested === undefined || requested.includes(tool.name);
    });
  }

  #enabled(): Tool[] {
    return [...this.#tools.values()].filter(isEnabled);
  }
}

/** What a session offers in a mode: in plan mode only what changes nothing, and `resolve` to submit the plan with. */
export function offeredTools(
  registry: ToolRegistry,
  { planMode, authority }: { readonly planMode: boolean; readonly authority: ModelAuthority },
): readonly Tool[] {
  const offered = registry.createTools(undefined, { withResolve: planMode || authority !== 'none' });
  return planMode ? offered.filter(tool => tool.readOnly === true || tool.name === 'resolve') : offered;
}

const specs = new WeakMap<Tool, ToolSpec>();

/** The tool as it is offered to the model. The same object each time, so that requests stay byte-identical. */
export function specOf(tool: Tool): ToolSpec {
  let spec = specs.get(tool);
  if (!spec) {
    const { $schema: _, ...parameters } = z.toJSONSchema(tool.parameters, { io: 'input' });
    spec = { name: tool.name, description: tool.description, parameters };
    specs.set(tool, spec);
  }
  return spec;
}

function isEnabled(tool: Tool): boolean {
  return tool.isEnabled?.() ?? true;
}
