import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readEntries } from '@cinnabar/plugin-chat/dist/config/chat-config.js';
import { LEAVES } from '@cinnabar/plugin-chat/dist/config/keys.js';
import { readYaml } from '@cinnabar/sdk';
import { expect } from 'chai';

/** The annotated examples, read where they are. */
function read(text: string) {
  const reading = readYaml(text);
  if (!reading.ok) throw new Error(`${reading.line}: ${reading.problem}`);
  return readEntries(reading.values, { originOf: (path) => String(reading.lineOf(path)), file: true });
}

const textOf = (...path: readonly string[]) => readFileSync(join('config', ...path), 'utf8');

describe('the annotated examples of the configuration', () => {
  it('are right, each of them', () => {
    for (const folder of ['guilds', 'bots'])
      for (const name of readdirSync(join('config', folder)))
        expect(read(textOf(folder, name)).problems, name).to.deep.equal([]);
    expect(read(textOf('shared.yaml')).problems).to.deep.equal([]);
  });

  it('explain every key of the chat mind, with its default behind the #', () => {
    const uncommented = textOf('bots', 'claude.yaml').replaceAll(/^#(?=[a-z])/gim, '');
    const { entries, problems } = read(uncommented);
    expect(problems).to.deep.equal([]);
    for (const [path, { fallback }] of LEAVES) {
      expect(entries.has(path), path).to.equal(true);
      if (fallback !== undefined) expect(entries.get(path)?.value, path).to.deep.equal(fallback);
    }
  });
});
