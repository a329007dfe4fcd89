import type { ToolSpec } from '../model/chatProvider.ts';
import type * as execution from './execute.ts';
import type { Tool } from './tool.ts';

/** The modules that make the specs and run calls, once they are loaded. They are large, and only requests need them. */
let make: ((tool: Tool) => ToolSpec) | undefined;
let execute: typeof execution.executeToolCall | undefined;

/**
 * Loads the modules for {@link specsOf} and {@link executeToolCall}. To be awaited before these are called; `undefined` if they were
 * loaded before.
 */
export function loadSpecs(): Promise<void> | undefined {
  if (make && execute) return undefined;
  return Promise.all([import('./toolSpec.ts'), import('./execute.ts')]).then(([{ specOf }, loaded]) => {
    make = specOf;
    execute = loaded.executeToolCall;
  });
}

/** `executeToolCall` of `execute.ts`, once that is loaded. */
export const executeToolCall: typeof execution.executeToolCall = (call, options) => {
  if (!execute) throw new Error('The code that runs tool calls was not loaded.');
  return execute(call, options);
};

/** Whether {@link specsOf} can be called. */
export function hasSpecs(): boolean {
  return make !== undefined;
}

/** The tools as a model is offered them. */
export function specsOf(tools: readonly Tool[]): readonly ToolSpec[] {
  if (!make) throw new Error('The specs of tools were not loaded.');
  return tools.map(make);
}
