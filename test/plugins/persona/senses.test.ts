import { expect } from 'chai';
import { type PersonaHarness, plan, set, speak, usePersonaHost } from './harness.js';

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

describe('persona: what it notices', () => {
  const open = usePersonaHost();
  const request = ({ llm }: PersonaHarness) =>
    JSON.stringify(llm.requests.at(-1)?.messages).replaceAll('\\\\"', '"').replaceAll('\\"', '"');

  it('knows the date, the time and the zone, and how long ago each line was said', async () => {
    await using harness = await open([plan([]), plan([])]);
    await set(harness, 'timeZone', 'Asia/Tokyo');
    await harness.hears('Good morning');
    await harness.advance(3 * 3_600_000);
    await harness.hears('And now?');
    const now = new Date(harness.clock.now() + 9 * 3_600_000);
    expect(request(harness))
      .to.include('"zone":"Asia/Tokyo"')
      .and.include(`"time":"${now.toISOString().slice(11, 16)}"`)
      .and.include(String(now.getUTCFullYear()))
      .and.include('"when":"3 h ago","from":"alice","said":"Good morning"');
  });

  it('refuses a time zone that there is not', async () => {
    await using harness = await open();
    await set(harness, 'timeZone', 'Mars/Olympus');
    expect(harness.general.messages.at(-1)?.content).to.include('Europe/Berlin');
  });

  it('has moods that fade: furious in the morning, calm a day later', async () => {
    const furious = { action: 'UPDATE_MOOD', result: { mood: 'furious', intensity: 8 } };
    await using harness = await open([plan([furious]), plan([])]);
    await harness.hears('I broke your guitar');
    const mood = async () => {
      harness.you.say(harness.general, '!persona mood');
      await harness.settled();
      return harness.general.messages.at(-1)?.content;
    };
    expect(await mood()).to.equal('Mood: furious (8 of 10)');
    await harness.advance(12 * 3_600_000);
    expect(await mood()).to.equal('Mood: furious (4 of 10)');
    await harness.advance(48 * 3_600_000);
    expect(await mood()).to.equal('Mood: calm (3 of 10)');
  });

  it('sees the message that is replied to, and what is attached: pictures and texts', async () => {
    await using harness = await open([plan([]), plan([])]);
    const old = harness.bob.say(harness.general, 'the password is swordfish');
    harness.alice.say(harness.general, `<@${harness.bot.id}> what is this?`, {
      replyTo: old,
      files: [
        { name: 'pixel.png', data: PIXEL, contentType: 'image/png' },
        { name: 'message.txt', data: Buffer.from('a long letter'), contentType: 'text/plain' },
      ],
    });
    await harness.settled();
    expect(request(harness))
      .to.include('"in_reply_to":{"from":"bob","said":"the password is swordfish"}')
      .and.include('a long letter')
      .and.include('pixel.png, image/png, 1 kB')
      .and.include(PIXEL.toString('base64'));
    await harness.hears('And what was that?');
    expect(request(harness)).to.include('pixel.png, image/png, 1 kB').and.not.include('a long letter');
  });

  it('reads no dot message, `.config` or `.history`, also when I reply to one or edit my words into one', async () => {
    await using harness = await open([plan([]), plan([])]);
    const { general, alice, bob, bot } = harness;
    const aside = bob.say(general, '.the password is swordfish');
    bob.say(general, '.config\nname: herring');
    bob.say(general, '.history herring');
    const words = alice.say(general, 'The code is 1234');
    await harness.settled();
    alice.edit(words, '.The code is 1234');
    alice.say(general, `${bot} what is this?`, { replyTo: aside });
    await harness.settled();
    await harness.hears('And now?');
    const asked = JSON.stringify(harness.llm.requests);
    expect(asked).to.include('what is this?').and.include('And now?');
    expect(asked).to.not.match(/swordfish|herring|1234/);
  });

  it('is shaped in a direct message by the member whose it is: created, edited, reset and undone', async () => {
    await using harness = await open([plan([speak('Judy here.')])]);
    const dm = harness.alice.openDm(harness.application);
    const say = async (text: string) => {
      harness.alice.say(dm, text);
      await harness.settled();
      return dm.messages.at(-1)?.content;
    };
    expect(await say('!persona create Judy A braindance technician.')).to.include('**Judy** is here now');
    expect(await say('!persona mood cheerful 7')).to.equal('Mood: cheerful (7 of 10)');
    expect(await say('!persona goals add Learn to dive')).to.include('Learn to dive');
    await say('!ai use persona');
    expect(await say('Who are you?')).to.equal('Judy here.');
    expect(request(harness)).to.include('braindance');
    expect(await say('!persona undo')).to.include('Taken back');
    harness.bob.say(harness.general, '!persona create Mallory Mine now.');
    await harness.settled();
    expect(harness.general.messages.at(-1)?.content).to.include('you need to be at least an admin here');
  });

  it('answers to its name where the server wants that, and not where it is only talked of', async () => {
    await using harness = await open(() => plan([speak(`Yes? (${harness.llm.requests.length})`)]));
    harness.you.say(harness.general, '!persona create Judy A technician.');
    await harness.settled();
    const say = async (text: string) => {
      const before = harness.llm.requests.length;
      harness.alice.say(harness.general, text);
      await harness.settled();
      return harness.llm.requests.length - before;
    };
    expect(await say('Judy, are you there?')).to.equal(0);
    // The setting takes effect when the admin reads the answer.
    harness.you.say(harness.general, '!set persona answersToName true');
    await harness.settled();
    expect(harness.general.messages.at(-1)?.content).to.include('is `true` for this server now');
    expect(await say('Judy, are you there?')).to.equal(1);
    expect(await say('I met Judy yesterday')).to.equal(0);
    // After a restart the persona answers at once, without a minute of silence.
    await harness.plugins.reload('persona');
    await harness.settled();
    expect(await say('Judy, are you still there?')).to.equal(1);
  });

  it('knows when it is called', async () => {
    await using harness = await open(() => plan([]));
    harness.you.say(harness.general, '!persona create Judy A technician.');
    await set(harness, 'answersToName', true);
    await set(harness, 'dayBudget', 100);
    const isCalledBy = async (text: string) => {
      const before = harness.llm.requests.length;
      const files = [{ name: 'pixel.png', data: PIXEL, contentType: 'image/png' }];
      harness.alice.say(harness.general, text, text === '' ? { files } : {});
      await harness.settled();
      return harness.llm.requests.length > before;
    };
    const called = ['Judy?', 'hey judy, hi', 'Judy can you help?', 'what do you think, Judy?', 'Hi Judy', '@Judy: hi'];
    const abroad = [
      'Hallo Judy, bist du da?',
      'Judy, ¿qué tal?',
      'Judy، كيف حالك؟',
      'どう思う、Judy？',
      'Привет Judy!',
    ];
    for (const text of [...called, ...abroad]) expect(await isCalledBy(text), text).to.equal(true);
    const talkedOf = ["Judy's car is here", 'Did Judy leave?', 'I met Judy, yesterday', 'Judith? Judyth?'];
    for (const text of ['Judy is nice', 'I like Judy', 'the judy problem', 'Judyth, hi', '', ...talkedOf])
      expect(await isCalledBy(text), text).to.equal(false);
  });

  it('speaks under its name through a webhook where the server wants that, and mentions whom it answers', async () => {
    await using harness = await open([plan([speak('I am Judy.')]), plan([])]);
    harness.guild.overwrite(harness.general, { for: harness.bot, allow: ['ManageWebhooks'] });
    harness.you.say(harness.general, '!persona create Judy A technician.');
    await set(harness, 'ownName', true);
    harness.alice.say(harness.general, `<@${harness.bot.id}> Who are you?`);
    await harness.settled();
    const answer = harness.general.messages.at(-1);
    expect(answer?.content).to.equal(`<@${harness.alice.id}> I am Judy.`);
    expect(answer?.author.name).to.equal('Judy');
    await harness.hears('Nice');
    expect(request(harness)).to.include('"from":"Judy","said":"I am Judy."');
  });
});
