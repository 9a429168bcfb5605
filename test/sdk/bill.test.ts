import { billFor, costOf, type ModelPrice, mostOf, receiptLine, type Usage } from '@cinnabar/sdk';
import { expect } from 'chai';

const PRICE = { input: 3, output: 15, cacheRead: 0.3, cacheWrite5m: 3.75, cacheWrite1h: 6 };

describe('the cost of model calls', () => {
  const MILLION = 1_000_000;
  const NONE = { inputTokens: 0, outputTokens: 0 };
  const answered = (usage: Usage): { usage: Usage; price: ModelPrice | undefined } => ({ usage, price: PRICE });

  it('counts fresh input, output and reads from the cache', () => {
    expect(costOf({ inputTokens: MILLION, outputTokens: 0 }, PRICE)).to.equal(3);
    expect(costOf({ inputTokens: 0, outputTokens: MILLION }, PRICE)).to.equal(15);
    expect(costOf({ ...NONE, cacheReadTokens: MILLION }, PRICE)).to.be.closeTo(0.3, 1e-9);
  });

  it('counts what is written to the cache, for five minutes or for an hour', () => {
    expect(costOf({ ...NONE, cacheCreationTokens: MILLION }, PRICE)).to.equal(3.75);
    expect(costOf({ ...NONE, cacheCreationTokens: MILLION, cacheCreation1hTokens: MILLION }, PRICE)).to.equal(6);
    const half = { ...NONE, cacheCreationTokens: MILLION, cacheCreation1hTokens: MILLION / 2 };
    expect(costOf(half, PRICE)).to.equal(4.875);
  });

  it('is the sum over its calls', () => {
    const usage = { inputTokens: 1000, outputTokens: 100, cacheReadTokens: 500, cacheCreationTokens: 20 };
    const bill = billFor([answered(usage), answered(usage)]);
    expect(bill.calls).to.equal(2);
    expect(bill.usage).to.deep.equal({
      inputTokens: 2000,
      outputTokens: 200,
      cacheReadTokens: 1000,
      cacheCreationTokens: 40,
      cacheCreation1hTokens: 0,
    });
    expect(bill.cost).to.be.closeTo(2 * costOf(usage, PRICE), 1e-12);
  });

  it('is not known when one of its models has no price', () => {
    expect(billFor([answered(NONE), { ...answered(NONE), price: undefined }]).cost).to.equal(null);
  });

  it('is at most the whole prompt written for an hour, and the longest answer', () => {
    expect(mostOf(MILLION, 1000, PRICE)).to.deep.equal({ tokens: MILLION + 1000, usd: 6.015 });
    expect(mostOf(10, 10, undefined).usd).to.equal(null);
  });

  it('is told in one small line', () => {
    const bill = billFor([answered({ ...NONE, inputTokens: 12_345, cacheReadTokens: 9 })]);
    expect(receiptLine(bill)).to.equal('-# 12,345 fresh, 0 written, 9 read, 0 output · $0.037');
    expect(receiptLine({ ...bill, cost: null })).to.match(/ · price not known$/);
  });
});
