// Tests that hold for one engine alone, by the reason. `npm run test:cluster` leaves them out; all others hold with the
// caller and the worker on two engines.

import { beforeEach } from 'vitest';
import { IS_PAIRED } from './paired-engines.ts';

const ONE_ENGINE: Readonly<Record<string, readonly string[]>> = {
  'it asks the engine on which something was counted, logged or refused': [
    '[guarantees 4] The number of waiting handshakes',
    '[O1] counts dropped telemetry',
    '[Q7] Jobs of an absent function use no attempt',
    '[PD-59] counts calls by function and outcome',
    '[modules 11.7] Rules on counts of the engine',
    '[O3] does not fire for the logs of its own handler',
    '[T9]',
    '[wire 1.5] just over the limit',
    '[fault 33]',
    '[I3] that names a timeout',
    '[T5] with conflate',
    '[T4] [T5] The items of an SDK subscription',
  ],
  'another engine lists a trigger under the id of its engine and its own': [
    '[wire 10.13] of a trigger may be repeated',
    '[wire 4.5]',
    '[wire 4.2] the newest provider',
    '[wire 10.14]',
    '[wire 10.15]',
    '[console 6.4] a cron trigger is listed',
  ],
  'its worker is registered on one engine before the other one knows it': [
    '[wire 1.7] keeps its place',
    '[wire 2.4] pass on objects',
    '[wire 3.5] gets the payload',
    '[wire 10.17]',
    '[wire 10.18]',
    '[wire 10.19]',
    '[wire 10.28]',
    '[wire 11.6] the unmodified iii client',
    '[wire 6.4] engine::workers-available',
    '[modules 5.3] [wire 2.5]',
    '[modules 5.4] [wire 2.5]',
    '[modules 5.5] [wire 2.5]',
    '[I1] answer each of thousands',
    '[I1] pass on every JSON value',
    '[I8] count one chain',
    '[SDK-3]',
    '[SDK-4] onStream',
    '[SDK-6] report errors',
    '[SDK-7]',
    '[SDK-8]',
    '[O9] A call that no worker could take',
    '[wire 1.9] with a wrong token',
    '[W4] a call that was running when the connection was cut',
  ],
  'a store in a directory or in memory is what it tests': [
    'A store in memory is logged',
    '[R5]',
    '[S5] a queue in memory is refused',
    '[S5] A change whose job the queue refuses',
    '[S5] A change of a custom stream is answered',
    '[PD-51] Without a store on disk',
  ],
  'the NATS of a pair ends with it': [
    '[PD-51]',
    '[O3] A job made by a handler of a log trigger fires no log trigger after a restart',
    '[O3] A log in the context of a log trigger fires nothing after a restart',
    '[modules 6.5] A subscriber that returns after a restart',
  ],
  'engines of a cluster use no bus between them (CL18)': ['[K2] [K3] reports the state of the Redis in health'],
  'a worker of the same engine comes first (CL11)': ['[I6] workers on one id share its calls'],
  'a channel has one hop more, whose other end is judged there (CL26)': [
    '[wire 1.2] a wrong key is refused before the upgrade',
    '[wire 7] a second connection to an end',
    '[G1] are closed with 1001',
    '[CH1] waits while the windows are full',
    '[modules 5.5] a handler that fails',
  ],
  'two engines that drain together let workers move first (CL29)': ['[G1] a draining engine finishes running requests'],
  '8 MiB may be in transit to another engine (CL10)': ['[L1] pass on 5 MiB', '[fault 35]'],
  'concurrency is that of one engine (guarantees 9.3)': [
    '[Q11] [Q12] A queue runs as many jobs',
    'A paused queue runs nothing, and then runs jobs by priority and delay',
  ],
  'both engines would have its port, or its folder': [
    '[modules 11.1] lists traces and logs of an earlier run',
    '[W6] [L6] low limits',
    '[X1] the address of an IPv6 port',
  ],
  'it starts an engine without a cluster': ['[CL1] an engine without the setting'],
};

if (IS_PAIRED) {
  beforeEach(({ task, skip }) => {
    for (const [reason, titles] of Object.entries(ONE_ENGINE)) {
      if (titles.some((title) => task.name.startsWith(title))) skip(reason);
    }
  });
}
