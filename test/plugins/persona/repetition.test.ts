import { actionLoop, repeatedSpeech } from '@cinnabar/plugin-persona/dist/running/repetition.js';
import type { CompletedAction } from '@cinnabar/sdk';
import { expect } from 'chai';
import fc from 'fast-check';
import { anyCharacter } from '../../support/any-character.js';
import { cpuMsOf } from '../../support/cpu-time.js';
import { formatTexts } from '../../support/languages.js';

const ANSWER = 'I would take the train to Bonn, it is faster than the car.';

type Purpose = Pick<CompletedAction, 'action' | 'context'>;

/** The repetition in a message before it is sent. */
const saying = (text: string, said: readonly string[], trigger = 'What do you think?') =>
  repeatedSpeech(text, said, trigger);

/** The repetition in an action before it is executed. */
const doing = (proposed: Purpose, completed: readonly Purpose[]) => actionLoop(completed, proposed);

const think = (context = ''): Purpose => ({ action: 'THINK', context });

describe('persona: noticing repetition', () => {
  before(formatTexts);

  describe('in what is said', () => {
    const repeats: readonly (readonly [kind: string, text: string, before: string])[] = [
      ['exact', ANSWER, ANSWER],
      ['exact', 'i would take the train to bonn — it is faster than the car!', ANSWER],
      ['paraphrase', 'It is faster than the car: I really would take the train to Bonn.', ANSWER],
      ['template', 'I would take the train to Rome, it is faster than the car.', ANSWER],
      [
        'template',
        'Nice to meet you, Bob! How can I help you today?',
        'Nice to meet you, Anna! How can I help you today?',
      ],
    ];
    for (const [kind, text, before] of repeats) {
      it(`stops "${text}" after "${before}" (${kind})`, () => {
        const pattern = saying(text, ['Something else entirely.', before, 'And one more thing.']);
        expect(pattern).to.include({ kind, earlier: before });
        expect(pattern?.sentence).to.match(/^says .+: /);
      });
    }

    it('works in any language', () => {
      const german = 'Ich würde mit dem Zug nach Bonn fahren, das geht schneller als mit dem Auto.';
      expect(saying(german.replace('Bonn', 'Rom'), [german])).to.include({ kind: 'template' });
      expect(saying(german.replace('Zug nach', 'Zug nicht nach'), [german])).to.equal(undefined);
      const japanese = '金曜日は八時に、ほかの日は九時に店が開きます。';
      expect(saying(japanese, [japanese])).to.include({ kind: 'exact' });
    });

    const others: readonly (readonly [why: string, text: string, before: string])[] = [
      ['new', 'The museum closes at five on Sundays.', ANSWER],
      ['the opposite', 'I would not take the train to Bonn, it is faster by car.', ANSWER],
      ['other numbers', 'It is 12 degrees in the garden now.', 'It is 17 degrees in the garden now.'],
      ['a short start in common', 'I think that bread is best.', 'I think that cats are great company in winter.'],
    ];
    for (const [why, text, before] of others) {
      it(`lets through what is ${why}`, () => {
        expect(saying(text, [before])).to.equal(undefined);
      });
    }

    it('lets an answer through that has the form of the last one because the question has', () => {
      const before = 'The capital of France is the lovely city of Paris.';
      const text = 'The capital of Italy is the lovely city of Rome.';
      expect(saying(text, [before], 'And what is the capital of Italy?')).to.equal(undefined);
      expect(saying(text, [before], 'Hm.')).to.include({ kind: 'template' });
    });

    for (const text of ['ok', 'Thanks!', '👍', 'Good morning everyone', 'Guten Morgen zusammen', 'はい', '']) {
      it(`never stops an acknowledgement: "${text}"`, () => {
        expect(saying(text, [text, text, text])).to.equal(undefined);
      });
    }

    it('looks back twenty messages', () => {
      const between = Array.from({ length: 19 }, (_, index) => `Message ${index}`);
      expect(saying(ANSWER, [ANSWER, ...between])).to.include({ kind: 'exact' });
      expect(saying(ANSWER, [ANSWER, ...between, 'One more'])).to.equal(undefined);
    });
  });

  describe('in what is done', () => {
    it('stops an action for a purpose for which it was just carried out', () => {
      const pattern = doing(think("Anna's feelings about the move"), [
        think("Anna's feelings about the move"),
        { action: 'UPDATE_MOOD', context: 'sadder' },
      ]);
      expect(pattern).to.include({ kind: 'loop' });
      expect(pattern?.sentence).to.include('THINK again for the same purpose');
    });

    it('lets the same action through for another purpose', () => {
      expect(doing(think('what to say to Bob about the party'), [think("Anna's feelings about the move")])).to.equal(
        undefined,
      );
      const tools = ['weather in Bonn', 'trains from Rome', 'hotel prices'].map((context) => ({
        action: 'USE_TOOL',
        context,
      }));
      expect(doing({ action: 'USE_TOOL', context: 'opening hours of the museum' }, tools)).to.equal(undefined);
    });

    it('stops the fourth of a kind in a row when nothing tells them apart', () => {
      expect(doing(think(), [think(), think()])).to.equal(undefined);
      expect(doing(think(), [think(), think(), think()])?.sentence).to.equal('THINK 4 times in a row');
    });

    it('stops two actions that take turns', () => {
      const mood = { action: 'UPDATE_MOOD', context: '' };
      expect(doing(think(), [think(), mood])).to.equal(undefined);
      expect(doing(think(), [think(), mood, think(), mood])?.sentence).to.equal('THINK and UPDATE_MOOD take turns');
    });

    it('looks at the last five actions', () => {
      const others = ['goals', 'weather', 'music', 'dinner'].map((context) => ({ action: 'ADD_MEMORY', context }));
      expect(doing(think('the move'), [think('the move'), ...others])).to.include({ kind: 'loop' });
      expect(
        doing(think('the move'), [think('the move'), ...others, { action: 'ADD_GOAL', context: 'paint' }]),
      ).to.equal(undefined);
    });
  });

  it('is quick whatever the texts are, and never stops what was never said before', async () => {
    const text = fc.oneof(
      fc.string({ maxLength: 300 }),
      fc.string({ unit: anyCharacter, maxLength: 300 }),
      fc.constantFrom('a '.repeat(9_000), '🙂'.repeat(2_000), "n't".repeat(3_000)),
    );
    const action = fc.record({ action: fc.constantFrom('THINK', 'SPEAK'), context: text });
    const inputs = fc.record({ text, trigger: text, said: fc.array(text, { maxLength: 60 }) });
    await fc.assert(
      fc.asyncProperty(
        inputs,
        action,
        fc.array(action, { maxLength: 40 }),
        async ({ text, trigger, said }, proposed, completed) => {
          const look = () => [repeatedSpeech(text, said, trigger), actionLoop(completed, proposed)];
          expect(await cpuMsOf(look)).to.be.below(1_000);
          expect(repeatedSpeech(text, [], trigger)).to.equal(undefined);
          expect(actionLoop([], proposed)).to.equal(undefined);
        },
      ),
      { numRuns: 50 },
    );
  });
});
