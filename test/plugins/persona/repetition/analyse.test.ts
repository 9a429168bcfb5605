import { analyseRepetition, type PastAction, type RepetitionInput } from '@cinnabar/plugin-persona/running/repetition';
import { expect } from 'chai';
import fc from 'fast-check';

const ANSWER = 'I would take the train to Bonn, it is faster than the car.';

/** What the analyser makes of words about to be said. */
const saying = (text: string, said: readonly string[], trigger = 'What do you think?') =>
  analyseRepetition({ completed: [], proposed: { action: 'SPEAK', text }, trigger, said });

/** What it makes of an action about to be carried out. */
const doing = (proposed: PastAction, completed: readonly PastAction[], trigger = 'What do you think?') =>
  analyseRepetition({ completed, proposed, trigger, said: [] });

const think = (context?: string): PastAction => ({ action: 'THINK', context });

describe('persona: noticing repetition', () => {
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
        const { shouldStop, pattern } = saying(text, ['Something else entirely.', before, 'And one more thing.']);
        expect({ shouldStop, kind: pattern?.kind, earlier: pattern?.earlier }).to.deep.equal({
          shouldStop: true,
          kind,
          earlier: before,
        });
        expect(pattern?.sentence).to.match(/^says .+: /);
      });
    }

    const others: readonly (readonly [why: string, text: string, before: string])[] = [
      ['new', 'The museum closes at five on Sundays.', ANSWER],
      ['the opposite', 'I would not take the train to Bonn, it is faster by car.', ANSWER],
      ['other numbers', 'It is 12 degrees in the garden now.', 'It is 17 degrees in the garden now.'],
      ['a short start in common', 'I think that bread is best.', 'I think that cats are great company in winter.'],
    ];
    for (const [why, text, before] of others) {
      it(`lets through what is ${why}`, () => {
        expect(saying(text, [before]).shouldStop).to.equal(false);
      });
    }

    it('lets an answer through that has the form of the last one because the question has', () => {
      const before = 'The capital of France is the lovely city of Paris.';
      const text = 'The capital of Italy is the lovely city of Rome.';
      expect(saying(text, [before], 'And what is the capital of Italy?').shouldStop).to.equal(false);
      expect(saying(text, [before], 'Hm.').shouldStop).to.equal(true);
    });

    for (const trigger of [
      'Say that again please',
      'can you repeat it?',
      'pardon?',
      "sorry, I didn't catch that",
      'what?',
      'Noch mal, bitte',
    ]) {
      it(`never stops a repeat that was asked for: "${trigger}"`, () => {
        const { shouldStop, pattern } = saying(ANSWER, [ANSWER], trigger);
        expect(shouldStop).to.equal(false);
        expect(pattern?.kind).to.equal('exact');
      });
    }

    for (const text of ['ok', 'Thanks!', '👍', 'Good morning everyone', 'yes, right', 'lol', '']) {
      it(`never stops an acknowledgement: "${text}"`, () => {
        expect(saying(text, [text, text, text])).to.deep.equal({ shouldStop: false, pattern: null });
      });
    }

    it('looks back twenty messages', () => {
      const between = Array.from({ length: 19 }, (_, index) => `Message ${index}`);
      expect(saying(ANSWER, [ANSWER, ...between]).shouldStop).to.equal(true);
      expect(saying(ANSWER, [ANSWER, ...between, 'One more']).shouldStop).to.equal(false);
    });
  });

  describe('in what is done', () => {
    it('stops an action for a purpose for which it was just carried out', () => {
      const { shouldStop, pattern } = doing(think("Anna's feelings about the move"), [
        think("Anna's feelings about the move"),
        { action: 'UPDATE_MOOD', context: 'sadder' },
      ]);
      expect({ shouldStop, kind: pattern?.kind }).to.deep.equal({ shouldStop: true, kind: 'loop' });
      expect(pattern?.sentence).to.include('THINK again for the same purpose');
    });

    it('lets the same action through for another purpose', () => {
      expect(
        doing(think('what to say to Bob about the party'), [think("Anna's feelings about the move")]).shouldStop,
      ).to.equal(false);
      const tools = ['weather in Bonn', 'trains from Rome', 'hotel prices'].map((context) => ({
        action: 'USE_TOOL',
        context,
      }));
      expect(doing({ action: 'USE_TOOL', context: 'opening hours of the museum' }, tools).shouldStop).to.equal(false);
    });

    it('stops the fourth of a kind in a row when nothing tells them apart', () => {
      expect(doing(think(), [think(), think()]).shouldStop).to.equal(false);
      expect(doing(think(), [think(), think(), think()]).pattern?.sentence).to.equal('THINK 4 times in a row');
    });

    it('stops two actions that take turns', () => {
      const mood: PastAction = { action: 'UPDATE_MOOD' };
      expect(doing(think(), [think(), mood]).shouldStop).to.equal(false);
      expect(doing(think(), [think(), mood, think(), mood]).pattern?.sentence).to.equal(
        'THINK and UPDATE_MOOD take turns',
      );
    });

    it('lets an action be repeated when that was asked for, but not time and again', () => {
      const roll: PastAction = { action: 'USE_TOOL', context: 'roll the big dice' };
      expect(doing(roll, [roll], 'Roll again!').shouldStop).to.equal(false);
      expect(doing(roll, [roll, roll], 'Roll again!').shouldStop).to.equal(true);
    });

    it('looks at the last five actions', () => {
      const others = ['goals', 'weather', 'music', 'dinner'].map((context) => ({ action: 'ADD_MEMORY', context }));
      expect(doing(think('the move'), [think('the move'), ...others]).shouldStop).to.equal(true);
      expect(
        doing(think('the move'), [think('the move'), ...others, { action: 'ADD_GOAL', context: 'paint' }]).shouldStop,
      ).to.equal(false);
    });
  });

  it('is quick whatever the texts are, and never stops what was never said before', () => {
    const text = fc.oneof(
      fc.string({ maxLength: 300 }),
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.constantFrom('a '.repeat(9_000), '🙂'.repeat(2_000), "n't".repeat(3_000)),
    );
    const inputs: fc.Arbitrary<RepetitionInput> = fc.record({
      completed: fc.array(fc.record({ action: fc.constantFrom('THINK', 'SPEAK'), context: text }), { maxLength: 40 }),
      proposed: fc.record({
        action: fc.constantFrom('THINK', 'SPEAK'),
        context: text,
        text: fc.option(text, { nil: undefined }),
      }),
      trigger: text,
      said: fc.array(text, { maxLength: 60 }),
    });
    fc.assert(
      fc.property(inputs, (input) => {
        const started = performance.now();
        const { shouldStop, pattern } = analyseRepetition(input);
        expect(performance.now() - started).to.be.lessThan(1_000);
        if (shouldStop) expect(pattern).not.to.equal(null);
        expect(analyseRepetition({ ...input, completed: [], said: [] })).to.deep.equal({
          shouldStop: false,
          pattern: null,
        });
      }),
      { numRuns: 50 },
    );
  });
});
