import * as z from 'zod/mini';
import type { Disposable } from '../base/disposable.ts';
import { ToolError } from '../base/errors.ts';
import type { ToolSpec } from '../model/chatProvider.ts';
import type { ModelAuthority } from '../preview/preview.ts';
import type { Tool, ToolSchema } from './tool.ts';

/** All tools by name, as they are now: tools come and go. The first to take a name keeps it. */
export class ToolRegistry {
  readonly #tools = new Map<string, Tool>();

  /**
   * Offers a tool until the registration is disposed of. A call that is running then goes on to its end.
   * @throws ToolError when the name is taken.
   */
  register(tool: Tool): Disposable {
    const { name } = tool;
    if (this.#tools.has(name)) throw new ToolError(`There is already a tool named ${name}.`);
    this.#tools.set(name, tool);
    return { dispose: () => this.#tools.get(name) === tool && this.#tools.delete(name) };
  }

  /** Whether the name is taken, also by a tool that does not exist at the moment. */
  has(name: string): boolean {
    return this.#tools.has(name);
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
    const parameters = tool.inputSchema ?? jsonSchemaOf(tool.parameters);
    spec = { name: tool.name, description: tool.description, parameters };
    specs.set(tool, spec);
  }
  return spec;
}

function isEnabled(tool: Tool): boolean {
  return tool.isEnabled?.() ?? true;
}

/** What a zod schema takes, as JSON Schema. */
export function jsonSchemaOf(schema: ToolSchema): Record<string, unknown> {
  const { $schema: _, ...parameters } = z.toJSONSchema(schema, { io: 'input' });
  return parameters;
}
