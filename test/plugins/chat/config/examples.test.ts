import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { effective } from './harness.js';

/** Parses the annotated examples. */
const read = (text: string) => effective({ files: { example: text } });

/** The keys with a default; the examples may show any value of the other keys. */
const withDefault = (config: object) =>
  Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined));

const textOf = (...path: readonly string[]) => readFileSync(join('config', ...path), 'utf8');

describe('the annotated examples of the configuration', () => {
  it('are right, each of them', async () => {
    for (const folder of ['guilds', 'bots'])
      for (const name of readdirSync(join('config', folder)))
        expect((await read(textOf(folder, name))).problems, name).to.deep.equal([]);
    expect((await read(textOf('shared.yaml'))).problems).to.deep.equal([]);
  });

  it('explain every key of the chat mind, with its default behind the #', async () => {
    const uncommented = textOf('bots', 'claude.yaml').replaceAll(/^#(?=[a-z])/gim, '');
    const { config, origin, problems } = await read(uncommented);
    const { config: defaults } = await effective({});
    expect(problems).to.deep.equal([]);
    expect(Object.entries(origin).filter(([, from]) => from === 'default')).to.deep.equal([]);
    expect({ ...config, ...withDefault(defaults) }).to.deep.equal(config);
  });
});
