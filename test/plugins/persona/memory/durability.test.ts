import { appendFileSync, mkdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { ANNA, BOB, ELSEWHERE, filesIn, GENERAL, type MemoryHarness, openMemoryHarness, refOf } from './harness.js';

const MINUTE_MS = 60_000;
const fileOf = ({ folder }: MemoryHarness) => join(folder.path, '500', 'guild.jsonl');

describe('persona: memories on the disk', () => {
  it('are in memory once, also while their embeddings are made and many other guilds are talked in', async () => {
    let answer = (): void => undefined;
    const asked = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await using harness = await openMemoryHarness({ embed: (texts) => asked.then(() => texts.map(() => [1, 0])) });
    await harness.say(ANNA, 'I like tea');
    for (let guild = 0; guild < 70; guild += 1) {
      await harness.say(ANNA, 'I like tea', { place: { ...ELSEWHERE, guildId: String(900 + guild) } });
    }
    await harness.say(ANNA, 'I like coffee, too');
    answer();
    expect(harness.opened.filter((file) => file === '500/guild')).to.have.length(1);
  });

  it('are there after a crash, right after they were added', async () => {
    await using harness = await openMemoryHarness();
    await harness.say(ANNA, 'I live in Bonn');
    await using later = await harness.restart(false);
    expect(await later.ask('Where does Anna live?')).to.deep.equal(['I live in Bonn']);
  });

  it('of the version before are read, with fields that are no longer used', async () => {
    await using harness = await openMemoryHarness();
    const old = {
      ...{ id: 'm0', kind: 'fact', text: 'I live in Bonn', subject: ANNA, subjectName: 'Anna', speaker: ANNA },
      ...{ speakerName: 'Anna', messageId: '7', channelId: GENERAL.channelId, guildId: '500', at: 1, importance: 5 },
      ...{ visibility: 'guild', attribute: 'home', supersededBy: null, duplicateOf: null, evidence: [] },
      ...{ lastAccess: 1, setAsideAt: null },
    };
    const later = { ...old, id: 'm1', text: 'I live in Rome', at: 2, messageId: '8' };
    mkdirSync(join(harness.folder.path, '500'));
    writeFileSync(
      fileOf(harness),
      [{ put: [{ ...old, supersededBy: 'm1' }, later] }].map((line) => `${JSON.stringify(line)}\n`).join(''),
    );
    expect(await harness.ask('Where does Anna live?')).to.deep.equal(['I live in Rome']);
    await harness.memories.messageDeleted({ guildId: '500', channelId: GENERAL.channelId, messageId: '8' });
    expect(await harness.ask('Where does Anna live?')).to.deep.equal(['I live in Bonn']);
  });

  it('are readable by the bot’s user alone', async () => {
    await using harness = await openMemoryHarness();
    await harness.say(ANNA, 'I live in Bonn');
    expect(statSync(fileOf(harness)).mode & 0o777).to.equal(0o600);
    expect(statSync(join(harness.folder.path, '500')).mode & 0o777).to.equal(0o700);
  });

  it('cost one line each, however many there are', async () => {
    await using harness = await openMemoryHarness();
    for (let index = 0; index < 50; index++) await harness.say(ANNA, `Event number ${index}`);
    const before = statSync(fileOf(harness)).size;
    await harness.say(ANNA, 'One event more');
    expect(statSync(fileOf(harness)).size - before).to.be.lessThan(1_000);
  });

  it('are gone from the file a minute after they were deleted, and at once when it stops', async () => {
    await using harness = await openMemoryHarness();
    await harness.say(ANNA, 'I live in Bonn');
    await harness.say(BOB, 'I live in Rome');
    await harness.memories.messageDeleted(refOf('I live in Bonn'));
    await using later = await harness.restart();
    expect(readFileSync(fileOf(later), 'utf8'))
      .to.include('Rome')
      .and.not.include('Bonn');
  });

  it('are gone from the file after a crash, too, at the next read', async () => {
    await using harness = await openMemoryHarness();
    await harness.say(ANNA, 'I live in Bonn');
    await harness.say(BOB, 'I live in Rome');
    await harness.memories.messageDeleted(refOf('I live in Bonn'));
    await using later = await harness.restart(false);
    expect(await later.standing()).to.deep.equal(['I live in Rome']);
    later.clock.advance(MINUTE_MS);
    await later.memories.close();
    expect(readFileSync(fileOf(later), 'utf8')).not.to.include('Bonn');
  });

  it('survive a torn line: only it is lost, and the next one is whole', async () => {
    await using harness = await openMemoryHarness();
    await harness.say(ANNA, 'I live in Bonn');
    appendFileSync(fileOf(harness), '{"put":[{"id":"m9","kind":"fa');
    await using later = await harness.restart(false);
    await later.say(BOB, 'I live in Rome');
    await using latest = await later.restart(false);
    expect(await latest.standing()).to.deep.equal(['I live in Bonn', 'I live in Rome']);
  });

  it('survive damage: what can be read is, the file is kept aside, and the log says so', async () => {
    await using harness = await openMemoryHarness();
    await harness.say(ANNA, 'I live in Bonn');
    await harness.say(BOB, 'I live in Rome');
    const [first = '', second = ''] = readFileSync(fileOf(harness), 'utf8').split('\n');
    writeFileSync(fileOf(harness), `${first}\n\u0000\u0001{]\n{"put":[{"id":5}]}\n${second}\n`);
    await using later = await harness.restart(false);
    expect(await later.standing()).to.deep.equal(['I live in Bonn', 'I live in Rome']);
    expect(later.log.entries.map(({ level, fields }) => [level, fields.damaged])).to.deep.equal([['warn', 2]]);
    expect(filesIn(later.folder).filter((file) => file.includes('.corrupt-'))).to.have.lengthOf(1);
  });

  it('are not told any more once they are deleted, even when that cannot be written, and are gone when it can', async () => {
    await using harness = await openMemoryHarness();
    await harness.say(ANNA, 'I live in Bonn');
    await harness.say(BOB, 'I live in Rome');
    const kept = readFileSync(fileOf(harness), 'utf8');
    rmSync(fileOf(harness));
    mkdirSync(fileOf(harness));
    expect(
      await harness.memories.messageDeleted(refOf('I live in Bonn')).catch((error: unknown) => error),
    ).to.be.instanceOf(Error);
    expect(await harness.say(BOB, 'I love tea').catch((error: unknown) => error)).to.be.instanceOf(Error);
    expect(await harness.standing()).to.deep.equal(['I live in Rome']);
    rmSync(fileOf(harness), { recursive: true });
    writeFileSync(fileOf(harness), kept);
    await using later = await harness.restart();
    expect(await later.standing()).to.deep.equal(['I live in Rome']);
  });

  it('are not added when the folder cannot be made, and can be later', async () => {
    await using harness = await openMemoryHarness();
    writeFileSync(join(harness.folder.path, '500'), 'in the way');
    expect(await harness.say(ANNA, 'I live in Bonn').catch((error: unknown) => error)).to.be.instanceOf(Error);
    rmSync(join(harness.folder.path, '500'));
    mkdirSync(join(harness.folder.path, '500'));
    await harness.say(ANNA, 'I live in Rome');
    expect(await harness.standing()).to.deep.equal(['I live in Rome']);
  });

  it('stay apart and right when many are added, asked for and deleted at once', async () => {
    await using harness = await openMemoryHarness();
    await Promise.all(
      Array.from({ length: 100 }, async (_, index) => {
        const place = index % 2 === 0 ? GENERAL : ELSEWHERE;
        await harness.say(ANNA, `Event number ${index}`, { place });
        await harness.ask('event', { place });
        if (index % 10 === 0) await harness.memories.messageDeleted(refOf(`Event number ${index}`, place));
      }),
    );
    await using later = await harness.restart();
    expect(await later.standing()).to.have.lengthOf(40);
    expect(await later.standing(ELSEWHERE)).to.have.lengthOf(50);
  });

  it('are unloaded when many guilds are active, and loaded again on request', async () => {
    await using harness = await openMemoryHarness();
    const places = Array.from({ length: 80 }, (_, index) => ({ ...GENERAL, guildId: String(10_000 + index) }));
    for (const place of places) await harness.say(ANNA, `I live in ${place.guildId}`, { place });
    for (const place of places) expect(await harness.standing(place)).to.deep.equal([`I live in ${place.guildId}`]);
  });

  it('lose nothing that was acknowledged, wherever a crash cuts the file off', async () => {
    const texts = [
      'I live in Bonn',
      'I live in Rome',
      'I love tea',
      'I hate tea',
      'I live in Bonn, really',
      'Cats are fine',
    ];
    const steps = fc.array(fc.record({ text: fc.constantFrom(...texts), deletes: fc.boolean() }), {
      minLength: 2,
      maxLength: 8,
    });
    await fc.assert(
      fc.asyncProperty(steps, fc.double({ min: 0, max: 1, noNaN: true }), async (all, cut) => {
        await using harness = await openMemoryHarness();
        let acknowledged: readonly string[] = [];
        let size = 0;
        for (const { text, deletes } of all) {
          acknowledged = await harness.standing();
          size = statSync(fileOf(harness), { throwIfNoEntry: false })?.size ?? 0;
          if (deletes) await harness.memories.messageDeleted(refOf(text));
          else await harness.say(ANNA, text);
        }
        const whole = await harness.standing();
        const full = statSync(fileOf(harness), { throwIfNoEntry: false })?.size ?? 0;
        if (full === 0) return;
        const end = size + Math.floor((full - size) * cut);
        truncateSync(fileOf(harness), end);
        await using later = await harness.restart(false);
        const found = await later.standing();
        // Without its line feed, the last line is complete as well.
        expect(found).to.deep.equal(end >= full - 1 ? whole : acknowledged);
      }),
      { numRuns: 40 },
    );
  });
});
