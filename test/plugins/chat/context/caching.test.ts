import { expect } from 'chai';
import { asLines, build, chat, createChannel, idAt, said, TRAITS } from './harness.js';

type BuiltContext = Awaited<ReturnType<typeof build>>;

const MINUTE = 60_000;
const marks = ({ request }: BuiltContext) => [
  ...(request.cache?.system === undefined ? [] : [`system ${request.cache.system.ttl}`]),
  ...request.messages.flatMap(({ messageId, cacheControl }) =>
    cacheControl === undefined ? [] : [`${messageId} ${cacheControl.ttl}`],
  ),
];

describe('chat context: cache breakpoints', () => {
  it('lie at the system prompt, the base, the previous tail and the tail', async () => {
    const channel = createChannel({ system: 'Long. '.repeat(200), config: { cache: '5m' } });
    await channel.activate(chat(50));
    await channel.activate(chat(55));
    const built = await channel.activate(chat(60));
    expect(marks(built)).to.deep.equal(['system 5m', `${idAt(49)} 5m`, `${idAt(54)} 5m`, `${idAt(59)} 5m`]);
    expect(built.facts.breakpoints.map(({ at }) => at)).to.deep.equal(['system', idAt(49), idAt(54), idAt(59)]);
  });

  it('are not laid below what the model caches', async () => {
    const built = await build(chat(10), { traits: { cache: { ...TRAITS.cache, minTokens: 4096 } } });
    expect(marks(built)).to.deep.equal([]);
  });

  it('are as many as the model takes, the last ones', async () => {
    const traits = { cache: { ...TRAITS.cache, breakpoints: 2 } };
    const channel = createChannel({ system: 'Long. '.repeat(200), config: { cache: '1h' }, traits });
    await channel.activate(chat(50));
    await channel.activate(chat(55));
    expect(marks(await channel.activate(chat(60)))).to.deep.equal([`${idAt(54)} 1h`, `${idAt(59)} 1h`]);
  });

  it('stay unchanged when a member with the same name joins, who is distinguished', async () => {
    const sam = (id: string, text: string) =>
      said(`sam${id}`, text, { author: { displayName: 'Sam', username: `user${id}` } });
    const channel = createChannel({ config: { cache: '5m' } });
    await channel.activate([...chat(20), sam('1', 'I am one')]);
    const { request, facts } = await channel.activate([...chat(20), sam('1', 'I am one'), sam('2', 'I am two')]);
    expect(facts.expectedMiss).to.equal(undefined);
    expect(asLines(request).slice(-2)).to.deep.equal(['Sam: I am one', 'Sam (user2): I am two']);
  });

  it('never lie on what the bot said, which what it says next is merged with', async () => {
    const built = await build([...chat(20), said('Claude', 'I think')], { config: { cache: '5m' } });
    expect(marks(built)).to.deep.equal([`${idAt(18)} 5m`, `${idAt(19)} 5m`]);
  });

  it('are none for a provider that caches by itself, and the window keeps still all the same', async () => {
    const traits = { cache: { ...TRAITS.cache, kind: 'automatic' as const } };
    const channel = createChannel({ traits, config: { recencyWindow: 20 } });
    const first = await channel.activate(chat(20));
    const second = await channel.activate(chat(25));
    expect(marks(first)).to.deep.equal([]);
    expect(second.facts.messages).to.equal(25);
    expect(second.facts.expectedReadTokens).to.equal(first.facts.estimatedTokens);
  });
});

describe('chat context: the rhythm of a channel', () => {
  /** Calls the bot at this interval, with this number of new messages each time. */
  const rhythm = async (everyMs: number, messages: number, times: number) => {
    const channel = createChannel({ system: 'Long. '.repeat(500) });
    let built = await channel.activate(chat(400));
    for (let count = 400 + messages; count <= 400 + messages * times; count += messages) {
      channel.wait(everyMs);
      built = await channel.activate(chat(count));
    }
    return built;
  };

  it('decides: a lively channel is kept for five minutes', async () => {
    const built = await rhythm(20_000, 1, 20);
    expect(built.facts.breakpoints.at(-1)?.ttl).to.equal('5m');
    expect(built.facts.plan).to.equal('asked about every 20 s: kept for 5 minutes; cut back after 100 more messages');
  });

  it('decides: one with pauses of a quarter of an hour is kept for an hour, and grows further before it is cut', async () => {
    const built = await rhythm(15 * MINUTE, 10, 20);
    expect(built.facts.breakpoints.map(({ ttl }) => ttl)).to.deep.equal(built.facts.breakpoints.map(() => '1h'));
    expect(built.facts.plan).to.match(
      /^asked about every 15 min: kept for an hour; cut back after [2-4][05]0 more messages$/,
    );
  });

  it('decides: what would expire before it is read is not written', async () => {
    const built = await rhythm(300 * MINUTE, 40, 12);
    expect(built.facts.breakpoints).to.deep.equal([]);
    expect(built.facts.plan).to.equal('asked about every 5 h: the conversation is not written to the cache');
    expect(built.facts.messages).to.equal(400);
  });
});

describe('chat context: the cause of a miss', () => {
  const system = 'Long. '.repeat(200);
  const CONFIG = { cache: '5m', recencyWindow: 40, rollingThreshold: 5 } as const;
  const warm = async (count = 40) => {
    const channel = createChannel({ system, config: CONFIG });
    await channel.activate(chat(count));
    return channel;
  };

  it('is none while all goes well', async () => {
    const channel = await warm();
    const { facts } = await channel.activate(chat(42));
    expect(facts.expectedMiss).to.equal(undefined);
    expect(facts.expectedReadTokens).to.be.greaterThan(500);
  });

  it('is the elapsed time', async () => {
    const channel = await warm();
    channel.wait(17 * MINUTE);
    expect((await channel.activate(chat(42))).facts.expectedMiss).to.equal('the entry expired 12 min ago');
  });

  it('is a rolled window', async () => {
    const channel = await warm();
    const { facts } = await channel.activate(chat(90));
    expect(facts.expectedMiss).to.equal('the window rolled');
    expect(facts.rolled).to.equal(true);
  });

  it('is an edited, deleted or hidden message', async () => {
    const change = async (replace: (index: number) => readonly ReturnType<typeof said>[]) => {
      const channel = await warm();
      const messages = chat(42).map((message, index) => ({ ...message, id: idAt(index) }));
      return (await channel.activate([...messages.slice(0, 39), ...replace(39), ...messages.slice(40)])).facts
        .expectedMiss;
    };
    const last = (index: number) => ({ ...said('Alice', 'Other words'), id: idAt(index) });
    expect(await change((index) => [{ ...last(index), editedAt: Date.UTC(2027, 0, 1) }])).to.contain('was edited');
    expect(await change(() => [])).to.contain('deleted or hidden');
    expect(await change((index) => [{ ...last(index), reactions: ['🫥'] }])).to.contain('hidden');
  });

  it('is another model, other tools or another system prompt', async () => {
    const tool = { name: 'look', description: 'Look', inputSchema: {} };
    const cause = async (then: Parameters<typeof build>[1]) =>
      (await (await warm()).activate(chat(42), then)).facts.expectedMiss;
    expect(await cause({ traits: { model: 'other' } })).to.equal('another model or mode is used now');
    expect(await cause({ tools: [tool] })).to.equal('the tools changed, or this member may use others');
    expect(await cause({ system: 'Short.' })).to.equal('the system prompt changed');
  });

  it('is none when members with different rights take turns, each with tools of their own', async () => {
    const channel = createChannel({ system, config: { ...CONFIG, rollingThreshold: 40 } });
    const look = { name: 'look', description: 'Look', inputSchema: {} };
    const seen: string[] = [];
    for (let count = 40; count < 76; count += 6) {
      const { facts } = await channel.activate(chat(count), { tools: count % 12 === 4 ? [] : [look] });
      seen.push(facts.expectedMiss ?? (facts.expectedReadTokens > 500 ? 'read' : 'nothing written yet'));
    }
    expect(seen).to.deep.equal([
      'nothing written yet',
      'the tools changed, or this member may use others',
      'read',
      'read',
      'read',
      'read',
    ]);
  });

  it('leaves what stands before an edit to be read', async () => {
    const channel = createChannel({ system, config: { ...CONFIG, cache: '1h', rollingThreshold: 40 } });
    await channel.activate(chat(40));
    await channel.activate(chat(60));
    const messages = chat(62).map((message, index) => ({ ...message, id: idAt(index) }));
    const edited = messages.map((message, index) =>
      index === 50 ? { ...message, content: 'Other', editedAt: 1 } : message,
    );
    const { facts, request } = await channel.activate(edited);
    expect(facts.expectedReadTokens).to.be.greaterThan(500);
    expect(request.messages[0]?.messageId).to.equal(idAt(0));
  });
});
