import { systemClock } from '../../../src/effects/clock.ts';
import { CronDisk } from '../../support/stores/cron-claims.ts';
import { testTickClaims } from './tick-claims-contract.ts';

const disks = new Map<string, CronDisk>();

testTickClaims({
  name: 'A store of this machine',
  newPlace() {
    const place = String(disks.size);
    disks.set(place, new CronDisk());
    return place;
  },
  create: (place) => (disks.get(place) ?? new CronDisk()).claims(systemClock),
});
