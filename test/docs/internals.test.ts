import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

/** Files of tests that may import modules that no package exports: algorithms, and the harnesses around them. */
const MOST = 50;

const INTERNAL = /['"]@cinnabar\/(?:(?:plugin-[a-z-]+|sdk|local-[a-z]+)\/dist\/|core\/(?:internal|dist))/;

describe('the tests', () => {
  it('go through public surfaces, but for a bounded number of files', () => {
    const sources = readdirSync('test', { recursive: true, encoding: 'utf8' }).filter(
      (path) => path.endsWith('.ts') && !path.endsWith('.d.ts') && !path.startsWith('dist'),
    );
    const importing = sources.filter((path) => INTERNAL.test(readFileSync(join('test', path), 'utf8')));
    expect(importing.length, importing.join('\n')).to.be.at.most(MOST);
  });
});
