import { mkdir, writeFile } from 'node:fs/promises';
import * as path from 'node:path';

const COUNT = 5_000;
const FOLDERS = 50;

/** Makes a folder with 5,000 TypeScript files of 5 KB, each with one call of `console.log` at its end. */
export async function fiveThousandFiles(folder: string): Promise<void> {
  const body = 'export function work(input: string): string {\n  return input.trim();\n}\n'.repeat(60);
  for (let i = 0; i < COUNT; i++) {
    const file = path.join(folder, `part${i % FOLDERS}`, `file${i}.ts`);
    if (i < FOLDERS) await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, `${body}console.log('file ${i}');\n`);
  }
}
