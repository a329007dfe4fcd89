import { editFileTool } from './editFile.ts';
import { listFilesTool } from './listFiles.ts';
import { readFileTool } from './readFile.ts';
import { ToolRegistry } from './registry.ts';
import { resolveTool } from './resolve.ts';
import { writeFileTool } from './writeFile.ts';

/** A registry with the tools that come with Redline. */
export function builtInTools(): ToolRegistry {
  const registry = new ToolRegistry();
  for (const tool of [readFileTool, listFilesTool, editFileTool, writeFileTool, resolveTool])
    registry.register(tool);
  return registry;
}
