import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { CinnabarError, ERRORS, type ErrorCode, sentenceOf, UserError } from '@cinnabar/sdk';
import { expect } from 'chai';

const packageFolder = dirname(dirname(createRequire(import.meta.url).resolve('@cinnabar/sdk')));

describe('the table of errors', () => {
  it('documents every code with its sentence, and no other', () => {
    const documentation = readFileSync(join(packageFolder, 'ERRORS.md'), 'utf8');
    const documented = [...documentation.matchAll(/^## `(CINNABAR_\w+)`\n\n> (.*)\n\n(?=\S)/gm)].map(
      ([, code, sentence]) => [code, sentence],
    );
    expect(Object.fromEntries(documented)).to.deep.equal(ERRORS);
  });

  it('fills the sentence with what it is about', () => {
    const error = new CinnabarError('CINNABAR_COOLDOWN', { seconds: 5 });
    expect(error.message).to.equal('Please wait 5 s before using this again.');
    expect(error.code).to.equal('CINNABAR_COOLDOWN' satisfies ErrorCode);
  });

  it('shows people coded and user errors, and nothing of any other', () => {
    expect(sentenceOf(new UserError('The party is empty.'))).to.equal('The party is empty.');
    expect(sentenceOf(new CinnabarError('CINNABAR_LLM_UNAVAILABLE'))).to.match(/cannot be reached/);
    expect(sentenceOf(new TypeError('secret internals'))).to.equal(undefined);
  });
});
