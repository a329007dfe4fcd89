import type { ToolSpec } from '../model/chatProvider.ts';
import type { Tool } from './tool.ts';

/** Makes the specs once it is loaded: only requests need it, and it is large. */
let make: ((tool: Tool) => ToolSpec) | undefined;

/** To be awaited before {@link specsOf}; `undefined` if there is nothing to await, since it was loaded before. */
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
