import { compareIds, createdAt, idAfter, idAt, idBefore, newerId, OLDEST_ID, olderId } from '@cinnabar/sdk';
import { expect } from 'chai';

describe('sdk: snowflakes', () => {
  it('are ordered by age, however many digits they have', () => {
    const ids = ['175928847299117063', '99', OLDEST_ID, '1421000000000000001', '100'];
    expect([...ids].sort(compareIds)).to.deep.equal(['0', '99', '100', '175928847299117063', '1421000000000000001']);
    expect([newerId('99', '100'), olderId('99', '100'), compareIds('7', '7')]).to.deep.equal(['100', '99', 0]);
  });

  it('have neighbours, and a time of creation', () => {
    expect([idAfter('99'), idBefore('100'), idBefore(OLDEST_ID)]).to.deep.equal(['100', '99', '0']);
    expect(createdAt('175928847299117063')).to.equal(1_462_015_105_796);
    expect(idAt(1_462_015_105_796)).to.equal('175928847298985984');
    expect(createdAt(idAt(1_462_015_105_796))).to.equal(1_462_015_105_796);
    expect(idAt(0)).to.equal('0');
  });
});
