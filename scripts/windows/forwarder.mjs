/** Makes a library of Windows whose only function is that of another library under another name. No compiler is needed. */

const SECTION = 0x1000;
const FILE_ALIGNMENT = 0x200;

/**
 * A library (DLL) for 64-bit Windows: headers, and one section with the table of its exports.
 * @param {string} library its file name
 * @param {string} name of the function
 * @param {string} target the function that does the work, as `LIBRARY.Function`
 * @returns {Buffer}
 */
export function forwarderLibrary(library, name, target) {
  const section = exportSection(library, name, target);
  const file = Buffer.alloc(FILE_ALIGNMENT + roundUp(section.length, FILE_ALIGNMENT));
  const u16 = (value, at) => file.writeUInt16LE(value, at);
  const u32 = (value, at) => file.writeUInt32LE(value, at);
  file.write('MZ', 0, 'latin1');
  u32(0x40, 0x3c); // where the header of Windows begins
  file.write('PE\0\0', 0x40, 'latin1');
  u16(0x8664, 0x44); // x64
  u16(1, 0x46); // sections
  u16(240, 0x54); // size of the optional header
  u16(0x2022, 0x56); // a library, for large addresses
  const optional = 0x58;
  u16(0x20b, optional); // 64 bits
  file.writeBigUInt64LE(0x1_8000_0000n, optional + 24); // preferred address
  u32(SECTION, optional + 32);
  u32(FILE_ALIGNMENT, optional + 36);
  u16(6, optional + 40); // version of Windows
  u16(6, optional + 48);
  u32(2 * SECTION, optional + 56); // size in memory
  u32(FILE_ALIGNMENT, optional + 60); // size of the headers
  u16(2, optional + 68); // no console
  u16(0x160, optional + 70); // may lie anywhere, without executable data
  for (const [at, size] of [0x100000n, 0x1000n, 0x100000n, 0x1000n].entries())
    file.writeBigUInt64LE(size, optional + 72 + 8 * at); // stack and heap
  u32(16, optional + 108); // directories, of which the first one is that of exports
  u32(SECTION, optional + 112);
  u32(section.length, optional + 116);
  const header = optional + 240;
  file.write('.rdata', header, 'latin1');
  u32(section.length, header + 8);
  u32(SECTION, header + 12);
  u32(file.length - FILE_ALIGNMENT, header + 16);
  u32(FILE_ALIGNMENT, header + 20);
  u32(0x40000040, header + 36); // initialised data, to be read
  section.copy(file, FILE_ALIGNMENT);
  return file;
}

/** The table of exports, whose addresses count from where the library lies in memory. */
function exportSection(library, name, target) {
  const [functions, names, ordinals, texts] = [40, 44, 48, 50];
  const strings = [library, name, target];
  const section = Buffer.concat([
    Buffer.alloc(texts),
    ...strings.map(text => Buffer.from(`${text}\0`, 'latin1')),
  ]);
  const address = text => SECTION + texts + strings.slice(0, text).join('\0').length + (text > 0 ? 1 : 0);
  section.writeUInt32LE(address(0), 12);
  section.writeUInt32LE(1, 16); // the first ordinal
  section.writeUInt32LE(1, 20); // functions
  section.writeUInt32LE(1, 24); // names
  section.writeUInt32LE(SECTION + functions, 28);
  section.writeUInt32LE(SECTION + names, 32);
  section.writeUInt32LE(SECTION + ordinals, 36);
  // An address inside of this table means that the function is another one, whose name is there.
  section.writeUInt32LE(address(2), functions);
  section.writeUInt32LE(address(1), names);
  return section;
}

const roundUp = (value, unit) => Math.ceil(value / unit) * unit;
