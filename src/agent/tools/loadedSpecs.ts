import type { ToolSpec } from '../model/chatProvider.ts';
import type { Tool } from './tool.ts';

/** The module that makes the specs, once it is loaded. It is large, and only requests need it. */
let make: ((tool: Tool) => ToolSpec) | undefined;

/** Loads what {@link specsOf} needs, which must be awaited before it is called; `undefined` if it was loaded before. */
export function loadSpecs(): Promise<void> | undefined {
  if (make) return undefined;
  return import('./toolSpec.ts').then(({ specOf }) => {
    make = specOf;
  });
}

/** Whether {@link specsOf} can be called. */
export function hasSpecs(): boolean {
  return make !== undefined;
}

/** The tools as a model is offered them. */
export function specsOf(tools: readonly Tool[]): readonly ToolSpec[] {
  if (!make) throw new Error('The specs of tools were not loaded.');
  return tools.map(make);
}
