import { callsBy } from '@cinnabar/plugin-persona/proactive';
import { expect } from 'chai';
import { plan, type Stage, set, setStage, speak } from './stage.js';

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

describe('persona: what it notices', () => {
  const request = ({ llm }: Stage) =>
    JSON.stringify(llm.requests.at(-1)?.messages).replaceAll('\\\\"', '"').replaceAll('\\"', '"');

  it('knows the date, the time and the zone, and how long ago each line was said', async () => {
    await using stage = await setStage([plan([]), plan([])]);
    await set(stage, 'timeZone', 'Asia/Tokyo');
    await stage.hears('Good morning');
    await stage.advance(3 * 3_600_000);
    await stage.hears('And now?');
    const now = new Date(stage.clock.now() + 9 * 3_600_000);
    expect(request(stage))
      .to.include('"zone":"Asia/Tokyo"')
      .and.include(`"time":"${now.toISOString().slice(11, 16)}"`)
      .and.include(String(now.getUTCFullYear()))
      .and.include('"when":"3 h ago","from":"alice","said":"Good morning"');
  });

  it('refuses a time zone that there is not', async () => {
    await using stage = await setStage();
    await set(stage, 'timeZone', 'Mars/Olympus');
    expect(stage.general.messages.at(-1)?.content).to.include('Europe/Berlin');
  });

  it('has moods that fade: furious in the morning, calm a day later', async () => {
    const furious = { action: 'UPDATE_MOOD', result: { mood: 'furious', intensity: 8 } };
    await using stage = await setStage([plan([furious]), plan([])]);
    await stage.hears('I broke your guitar');
    const mood = async () => {
      stage.you.say(stage.general, '!persona mood');
      await stage.settled();
      return stage.general.messages.at(-1)?.content;
    };
    expect(await mood()).to.equal('Mood: furious (8 of 10)');
    await stage.advance(12 * 3_600_000);
    expect(await mood()).to.equal('Mood: furious (4 of 10)');
    await stage.advance(48 * 3_600_000);
    expect(await mood()).to.equal('Mood: calm (3 of 10)');
  });

  it('sees the message that is replied to, and what is attached: pictures and texts', async () => {
    await using stage = await setStage([plan([]), plan([])]);
    const old = stage.bob.say(stage.general, 'the password is swordfish');
    stage.alice.say(stage.general, `<@${stage.bot.id}> what is this?`, {
      replyTo: old,
      files: [
        { name: 'pixel.png', data: PIXEL, contentType: 'image/png' },
        { name: 'message.txt', data: Buffer.from('a long letter'), contentType: 'text/plain' },
      ],
    });
    await stage.settled();
    expect(request(stage))
      .to.include('"in_reply_to":{"from":"bob","said":"the password is swordfish"}')
      .and.include('a long letter')
      .and.include('pixel.png, image/png, 1 kB')
      .and.include(PIXEL.toString('base64'));
    await stage.hears('And what was that?');
    expect(request(stage)).to.include('pixel.png, image/png, 1 kB').and.not.include('a long letter');
  });

  it('reads no dot message, `.config` or `.history`, also when I reply to one or edit my words into one', async () => {
    await using stage = await setStage([plan([]), plan([])]);
    const { general, alice, bob, bot } = stage;
    const aside = bob.say(general, '.the password is swordfish');
    bob.say(general, '.config\nname: herring');
    bob.say(general, '.history herring');
    const words = alice.say(general, 'The code is 1234');
    await stage.settled();
    alice.edit(words, '.The code is 1234');
    alice.say(general, `${bot} what is this?`, { replyTo: aside });
    await stage.settled();
    await stage.hears('And now?');
    const asked = JSON.stringify(stage.llm.requests);
    expect(asked).to.include('what is this?').and.include('And now?');
    expect(asked).to.not.match(/swordfish|herring|1234/);
  });

  it('is shaped in a direct message by the member whose it is: created, edited, reset and undone', async () => {
    await using stage = await setStage([plan([speak('Judy here.')])]);
    const dm = stage.alice.openDm(stage.application);
    const say = async (text: string) => {
      stage.alice.say(dm, text);
      await stage.settled();
      return dm.messages.at(-1)?.content;
    };
    expect(await say('!persona create Judy A braindance technician.')).to.include('**Judy** is here now');
    expect(await say('!persona mood cheerful 7')).to.equal('Mood: cheerful (7 of 10)');
    expect(await say('!persona goals add Learn to dive')).to.include('Learn to dive');
    await say('!ai use persona');
    expect(await say('Who are you?')).to.equal('Judy here.');
    expect(request(stage)).to.include('braindance');
    expect(await say('!persona undo')).to.include('Taken back');
    stage.bob.say(stage.general, '!persona create Mallory Mine now.');
    await stage.settled();
    expect(stage.general.messages.at(-1)?.content).to.include('you need to be at least an admin here');
  });

  it('answers to its name where the server wants that, and not where it is only talked of', async () => {
    await using stage = await setStage(() => plan([speak(`Yes? (${stage.llm.requests.length})`)]));
    stage.you.say(stage.general, '!persona create Judy A technician.');
    await stage.settled();
    const say = async (text: string) => {
      const before = stage.llm.requests.length;
      stage.alice.say(stage.general, text);
      await stage.settled();
      return stage.llm.requests.length - before;
    };
    expect(await say('Judy, are you there?')).to.equal(0);
    // As soon as the admin reads that it holds.
    stage.you.say(stage.general, '!set persona answersToName true');
    await stage.settled();
    expect(stage.general.messages.at(-1)?.content).to.include('is `true` for this server now');
    expect(await say('Judy, are you there?')).to.equal(1);
    expect(await say('I met Judy yesterday')).to.equal(0);
    // After a restart at once, without a minute of silence.
    await stage.plugins.reload('persona');
    await stage.settled();
    expect(await say('Judy, are you still there?')).to.equal(1);
  });

  it('knows when it is called', () => {
    const called = ['Judy?', 'hey judy, hi', 'Judy can you help?', 'what do you think, Judy?', 'Hi Judy', '@Judy: hi'];
    const abroad = [
      'Hallo Judy, bist du da?',
      'Judy, ¿qué tal?',
      'Judy، كيف حالك؟',
      'どう思う、Judy？',
      'Привет Judy!',
    ];
    for (const text of [...called, ...abroad]) expect(callsBy('Judy', text), text).to.equal(true);
    const talkedOf = ["Judy's car is here", 'Did Judy leave?', 'I met Judy, yesterday', 'Judith? Judyth?'];
    for (const text of ['Judy is nice', 'I like Judy', 'the judy problem', 'Judyth, hi', '', ...talkedOf])
      expect(callsBy('Judy', text), text).to.equal(false);
  });

  it('speaks under its name through a webhook where the server wants that, and mentions whom it answers', async () => {
    await using stage = await setStage([plan([speak('I am Judy.')]), plan([])]);
    stage.guild.overwrite(stage.general, { for: stage.bot, allow: ['ManageWebhooks'] });
    stage.you.say(stage.general, '!persona create Judy A technician.');
    await set(stage, 'ownName', true);
    stage.alice.say(stage.general, `<@${stage.bot.id}> Who are you?`);
    await stage.settled();
    const answer = stage.general.messages.at(-1);
    expect(answer?.content).to.equal(`<@${stage.alice.id}> I am Judy.`);
    expect(answer?.author.name).to.equal('Judy');
    await stage.hears('Nice');
    expect(request(stage)).to.include('"from":"Judy","said":"I am Judy."');
  });
});
