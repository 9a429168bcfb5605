import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import {
  CinnabarError,
  ERRORS,
  type ErrorCode,
  isForOperators,
  OperatorError,
  operatorSentenceOf,
  sentenceOf,
  UserError,
} from '@cinnabar/sdk';
import { expect } from 'chai';

const packageFolder = dirname(dirname(createRequire(import.meta.url).resolve('@cinnabar/sdk')));

describe('the table of errors', () => {
  it('documents every code with its sentence, and no other', () => {
    const documentation = readFileSync(join(packageFolder, 'ERRORS.md'), 'utf8');
    const documented = [...documentation.matchAll(/^## `(CINNABAR_\w+)`\n\n> (.*)\n\n(Read by .*)\n\n(?=\S)/gm)].map(
      ([, code, sentence, readers]) => [code, { sentence, readers }],
    );
    const declared = Object.entries(ERRORS).map(([code, { audience, sentence, memberSentence }]) => {
      const instead = memberSentence === undefined ? ' only that something went wrong.' : `: ${memberSentence}`;
      const readers = audience === 'member' ? 'Read by members.' : `Read by the operator. Members read${instead}`;
      return [code, { sentence, readers }];
    });
    expect(Object.fromEntries(documented)).to.deep.equal(Object.fromEntries(declared));
  });

  it('fills the sentence with what it is about', () => {
    const error = new CinnabarError('CINNABAR_COOLDOWN', { wait: '5 s' });
    expect(error.message).to.equal('Please wait 5 s before using this again.');
    expect(error.code).to.equal('CINNABAR_COOLDOWN' satisfies ErrorCode);
  });

  it('shows people coded and user errors, and nothing of any other', () => {
    expect(sentenceOf(new UserError('The party is empty.'))).to.equal('The party is empty.');
    expect(sentenceOf(new CinnabarError('CINNABAR_LLM_UNAVAILABLE'))).to.match(/cannot be reached/);
    expect(sentenceOf(new TypeError('secret internals'))).to.equal(undefined);
  });
});

describe('the text of an error for members', () => {
  const CODES = Object.keys(ERRORS).filter((code): code is ErrorCode => code in ERRORS);
  const INTERNALS = [
    '/srv/cinnabar/data/documents/chat.json',
    'ENOENT: no such file or directory, open ./config/bots/v.yaml',
    'C:\\bots\\data',
    'diary/collections/guild/notes/900',
    'config/guilds/900.yaml:3: window: not a number',
    'fetch failed: http://10.0.0.7:8283/v1/agents',
    'connect ECONNREFUSED 127.0.0.1:8283',
    'getaddrinfo ENOTFOUND letta.internal:8283',
    'localhost refused',
    'OPENAI_API_KEY is wrong',
  ];
  /** Errors that may contain only the reader's own text; they have no other source. */
  const ECHOING = new Map<ErrorCode, readonly string[]>([
    ['CINNABAR_PLUGIN_UNKNOWN', ['plugin', 'hint']],
    ['CINNABAR_SETTING_UNKNOWN', ['plugin', 'key', 'hint']],
    ['CINNABAR_SETTING_INVALID', ['key', 'detail']],
    ['CINNABAR_OPTION_INVALID', ['detail']],
    ['CINNABAR_TOOL_UNKNOWN', ['tool']],
    ['CINNABAR_TOOL_ARGUMENTS', ['detail']],
    ['CINNABAR_RESPONDER_UNKNOWN', ['name']],
  ]);
  const slotsOf = (code: ErrorCode) => [...ERRORS[code].sentence.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);

  it('names no path, document, address or variable, whatever a code of the table is about', () => {
    for (const code of CODES) {
      const echoed = ECHOING.get(code) ?? [];
      expect(ERRORS[code].echoes, code).to.deep.equal(echoed);
      for (const internal of INTERNALS) {
        const params = Object.fromEntries(slotsOf(code).map((name) => [name, echoed.includes(name) ? 'x' : internal]));
        const error = new CinnabarError(code, params);
        const read = sentenceOf(error) ?? '';
        expect(read, code).not.to.include(internal);
        expect(read, code).not.to.match(/\/|\\|:\d{2}|127\.0|localhost|[A-Z]+_[A-Z]+/);
        expect(operatorSentenceOf(error), code).to.equal(error.message);
        if (slotsOf(code).some((name) => !echoed.includes(name))) expect(error.message, code).to.include(internal);
      }
    }
  });

  it('is a sentence with a reference where the reason is in the log, and the words alone where they are for members', () => {
    const refused = new CinnabarError('CINNABAR_LLM_REFUSED', { detail: 'the key in OPENAI_API_KEY' });
    expect(sentenceOf(refused, 'r7')).to.match(/^The language model did not accept .*\(reference `r7`\)\.$/);
    expect(sentenceOf(new CinnabarError('CINNABAR_COOLDOWN', { wait: '2 s' }), 'r7')).not.to.include('r7');
    expect(sentenceOf(new UserError('Empty.'), 'r7')).to.equal('Empty.');
  });

  it('is an own sentence where a plugin keeps the reason for the operator', () => {
    const error = new OperatorError('LETTA_BASE_URL is no address', 'The agents are not set up.');
    expect(isForOperators(error)).to.equal(true);
    expect(sentenceOf(error)).to.equal('The agents are not set up.');
    expect(operatorSentenceOf(error)).to.equal('LETTA_BASE_URL is no address');
  });

  it('leaves mentions, tools and ordinary words as they are', () => {
    const reasons = 'the tool `mcp__files__read` is not for <#123456789012345678>, at 12:30, and/or in v1.2.3';
    expect(sentenceOf(new CinnabarError('CINNABAR_ACCESS_DENIED', { reasons }))).to.include(reasons);
  });
});
