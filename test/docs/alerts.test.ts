import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { at } from './support/pages.js';

describe('the README of admin', () => {
  it('names every kind of alert that the host and the bundled plugins raise', () => {
    const sources = ['core/src', 'plugins'].flatMap((folder) =>
      readdirSync(at(folder), { recursive: true, encoding: 'utf8' })
        .filter((path) => path.endsWith('.ts') && !/(^|\/)(node_modules|dist)\//.test(path))
        .map((path) => readFileSync(at(`${folder}/${path}`), 'utf8')),
    );
    // An alert in the source: a kind, a text and a remedy.
    const kinds = sources.flatMap((source) =>
      [...source.matchAll(/\bkind: ([^\n]*),\n\s*text:[\s\S]{0,700}?\bremedy:/g)].flatMap(([, kind = '']) =>
        [...kind.matchAll(/'([a-z-]+)'/g)].map(([, name = '']) => name),
      ),
    );
    expect(kinds).to.include.members(['gateway-away', 'model-resting', 'disk-full', 'restart-after-crash']);
    const readme = readFileSync(at('plugins/admin/README.md'), 'utf8');
    expect([...new Set(kinds)].filter((kind) => !readme.includes(`\`${kind}\``))).to.deep.equal([]);
  });
});
