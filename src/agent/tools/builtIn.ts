import { deleteFileTool } from './deleteFile.ts';
import { editFileTool } from './editFile.ts';
import { listFilesTool } from './listFiles.ts';
import { readFileTool } from './readFile.ts';
import { ToolRegistry } from './registry.ts';
import { renameFileTool } from './renameFile.ts';
import { resolveTool } from './resolve.ts';
import { writeFileTool } from './writeFile.ts';

/** A registry with those of Redline's tools that need nothing but a workspace. */
export function builtInTools(): ToolRegistry {
  const registry = new ToolRegistry();
  const tools = [
    readFileTool,
    listFilesTool,
    editFileTool,
    writeFileTool,
    deleteFileTool,
    renameFileTool,
    resolveTool,
  ];
  for (const tool of tools) registry.register(tool);
  return registry;
}
