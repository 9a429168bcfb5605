import { readFileSync } from 'node:fs';
import { expect } from 'chai';

describe('security: SECURITY.md', () => {
  const text = readFileSync('SECURITY.md', 'utf8');
  const promises = [...text.matchAll(/^\| (?<promise>.+?) \| `(?<file>test\/[^`]+)` › (?<title>.+) \|$/gm)].map(
    ({ groups = {} }) => groups,
  );

  it('names for each promise a test that exists', () => {
    const rows = text.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| promise'));
    expect(promises).to.have.length(rows.length).greaterThan(20);
    const missing = promises.filter(({ file = '', title = '' }) => !titlesIn(file).includes(title));
    expect(missing).to.deep.equal([]);
  });

  it('has the threat model, what is out of scope, and how to report', () => {
    for (const heading of ['Threat model', 'Out of scope', 'Reporting']) {
      expect(text).to.include(`\n## ${heading}\n`);
    }
  });
});

function titlesIn(file: string): readonly string[] {
  return [...readFileSync(file, 'utf8').matchAll(/\bit\(\s*(['"])(?<title>.+?)\1,/g)].map(
    ({ groups }) => groups?.title ?? '',
  );
}
