import { createTestHost } from '@cinnabar/core/testing';
import { importedNames } from '@cinnabar/plugin-mcp/dist/importing/listing.js';
import { cutText, readResult } from '@cinnabar/plugin-mcp/dist/importing/result.js';
import { problemWith } from '@cinnabar/plugin-mcp/dist/importing/schema.js';
import { createIntake, type Framing, IntakeError } from '@cinnabar/plugin-mcp/dist/servers/intake.js';
import { createManualClock } from '@cinnabar/sdk/testing';
import { expect } from 'chai';
import fc from 'fast-check';
import { anyCharacter } from '../../support/any-character.js';

describe('names of imported tools', () => {
  it('are such that every model takes them, and all different, whatever the server calls its tools', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.string({ minLength: 1, maxLength: 100, unit: anyCharacter }), { maxLength: 20 }),
        (tools) => {
          const names = [...importedNames('a-server', tools).values()];
          expect(new Set(names).size).to.equal(tools.length);
          for (const name of names) expect(name).to.match(/^a_server_[A-Za-z0-9_]{0,55}$/);
        },
      ),
    );
  });
});

describe('a long text', () => {
  it('is cut between characters, and says how much is missing', () => {
    expect(cutText('äöü', 6)).to.equal('äöü');
    expect(cutText('äöü', 5)).to.equal('äö\n… (cut: 1 bytes of 6 bytes are left out)');
  });
});

describe('the result of a call', () => {
  it('has media beyond 5 MB replaced by a note', () => {
    const image = { type: 'image', mimeType: 'image/png', data: 'A'.repeat(4 * 1024 * 1024) } as const;
    const { content, text } = readResult({ content: [image, image] });
    expect(content.map(({ type }) => type)).to.deep.equal(['image', 'text']);
    expect(text).to.match(/^\[image: image\/png, 3\.0 MB\]\n\[image: image\/png, 3\.0 MB\] \(left out/);
  });
});

describe('a JSON Schema of a server', () => {
  const accepts = (schema: Record<string, unknown>, value: unknown) => problemWith({ schema, value }) === undefined;

  it('is read as draft 2020-12, or as draft 7 where it says so or is nothing else', () => {
    const tuple = { type: 'object', properties: { at: { prefixItems: [{ type: 'number' }] } } };
    expect(accepts(tuple, { at: ['x'] })).to.equal(false);
    const older = { type: 'object', properties: { at: { type: 'array', items: [{ type: 'number' }] } } };
    expect(accepts(older, { at: ['x'] })).to.equal(false);
    expect(accepts(older, { at: [1] })).to.equal(true);
    const said = { ...older, $schema: 'http://json-schema.org/draft-07/schema#' };
    expect(accepts(said, { at: ['x'] })).to.equal(false);
  });

  it('that no validator supports leaves the check to the server', () => {
    expect(accepts({ type: 'object', properties: { a: { type: 'nonsense' } } }, { a: 1 })).to.equal(true);
  });

  it('says what is wrong, and where', () => {
    const schema = { type: 'object', properties: { a: { type: 'object', properties: { b: { type: 'number' } } } } };
    expect(problemWith({ schema, value: { a: { b: 'x' } } })).to.equal('a.b must be number');
  });

  it('has its patterns read in linear time, each for itself, and look-around all the same', () => {
    const properties = { a: { pattern: '^(a+)+$' }, b: { pattern: '^[0-9]{2,}$' }, c: { pattern: '^(?!x)[a-z]+$' } };
    const schema = { type: 'object', properties };
    expect(accepts(schema, { a: 'aaa', b: '12', c: 'abc' })).to.equal(true);
    expect(accepts(schema, { b: '1' })).to.equal(false);
    expect(accepts(schema, { c: 'xyz' })).to.equal(false);
    expect(accepts(schema, { a: `${'a'.repeat(50_000)}!` })).to.equal(false);
  });
});

describe('the output of a server', () => {
  const watch = (framing: Framing) => createIntake(createManualClock()).watch(framing);
  const bytes = (text: string) => Buffer.from(text);

  it('may be of 50,000 parts in a message, however it comes in, and texts are no parts', () => {
    const anyJson = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify([value, 'a \\" , [ { :']));
    fc.assert(
      fc.property(fc.array(anyJson, { minLength: 1, maxLength: 5 }), fc.integer({ min: 1, max: 7 }), (lines, size) => {
        const check = watch('line');
        const all = bytes(lines.map((line) => `${line}\n`).join(''));
        for (let at = 0; at < all.length; at += size) check(all.subarray(at, at + size));
        const limit = 50_000;
        const many = `[${'1,'.repeat(limit - 1)}1]\n`;
        check(bytes(many));
        check(bytes(`["${',['.repeat(limit)}"]\n`));
        expect(() => check(bytes(`[${many}`))).to.throw(IntakeError, /more than 50000 parts/);
      }),
      { numRuns: 20 },
    );
  });

  it('is counted by event, and comments that keep a stream open are not', () => {
    const check = watch('event');
    for (let count = 0; count < 60_000; count += 1) check(bytes(': {}\r\n'));
    for (let count = 0; count < 5; count += 1) check(bytes(`data: [${'1,'.repeat(20_000)}1]\r\n\r\n`));
    check(bytes(`data: [${'1,'.repeat(30_000)}1]\n`));
    expect(() => check(bytes(`data: [${'1,'.repeat(30_000)}1]\n`))).to.throw(/50000 parts/);
  });

  it('may be 64 MB in a minute, and as much in the next', () => {
    const clock = createManualClock();
    const check = createIntake(clock).watch('line');
    // A line counts as at least 4 KB.
    const send = (lines: number) => check(bytes('\n'.repeat(lines)));
    send(15_000);
    expect(() => send(2_000)).to.throw(IntakeError, /more than 64 MB within a minute/);
    clock.advance(60_000);
    send(15_000);
  });
});

describe('the configuration of servers', () => {
  const problemOf = async (server: unknown) => {
    const settings = { mcp: { servers: { files: server } } };
    const host = await createTestHost({ plugins: ['mcp'], settings }).catch((error: unknown) => String(error));
    if (typeof host === 'string') return host;
    await host[Symbol.asyncDispose]();
    return 'none';
  };

  it('is refused at start, with what is wrong and where', async () => {
    expect(await problemOf({})).to.match(/mcp\.servers\.files.* needs either "command" .* or "url"/);
    expect(await problemOf({ command: 'x', url: 'http://x' })).to.match(/needs either/);
    expect(await problemOf({ command: 'x', headers: {} })).to.match(/headers.* goes with "url"/);
    expect(await problemOf({ url: 'ftp://x' })).to.match(/url.* must be an http or https address/);
    expect(await problemOf({ command: 'x', typo: 1 })).to.match(/typo/);
  });

  it('takes no secret as it is', async () => {
    const oauth = { issuer: 'https://auth.example', clientId: 'bot', clientSecret: 'abc' };
    expect(await problemOf({ url: 'http://127.0.0.1:1/mcp', oauth })).to.match(/clientSecret.* must be a reference/);
    const secret = { url: 'http://127.0.0.1:1/mcp', headers: { Authorization: 'Bearer abc' } };
    expect(await problemOf(secret)).to.match(
      /looks like a secret: put it into the environment, and write \$\{AUTHORIZATION\}/,
    );
  });
});
