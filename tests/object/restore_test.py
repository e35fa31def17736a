"""Archived objects: a client asks for one, waits until the header says that it is there, reads it, and finds it archived again."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from directory import clock  # noqa: E402
from suite import Suite  # noqa: E402

ONGOING = 'ongoing-request="true"'


class Restorations(Suite):
    def restore(self, tier, days=1):
        request = {"Days": days, "GlacierJobParameters": {"Tier": tier}}
        answer = self.s3.restore_object(Bucket=self.name, Key="cold", RestoreRequest=request)
        return answer["ResponseMetadata"]["HTTPStatusCode"]

    def shown(self):
        return self.s3.head_object(Bucket=self.name, Key="cold").get("Restore")

    def test_a_client_waits_for_an_archived_object_and_reads_it(self):
        self.name = self.bucket()
        self.addCleanup(clock, reset=True)
        self.s3.put_object(Bucket=self.name, Key="cold", Body=b"kept", StorageClass="GLACIER")
        read = lambda: self.s3.get_object(Bucket=self.name, Key="cold")  # noqa: E731
        self.refused(403, "InvalidObjectState", read)
        self.assertEqual((self.restore("Expedited"), self.shown()), (202, ONGOING))
        self.refused(403, "InvalidObjectState", read)
        clock(advanceMs=240_000)
        again = self.refused(409, "RestoreAlreadyInProgress", self.restore, tier="Expedited")
        self.assertEqual(again["Message"], "Object restore is already in progress")
        self.assertEqual(self.shown(), ONGOING)
        clock(advanceMs=61_000)
        self.assertTrue(self.shown().startswith('ongoing-request="false", expiry-date="'), self.shown())
        self.assertEqual(read()["Body"].read(), b"kept")
        self.assertEqual(self.restore("Bulk", 7), 200)
        self.assertEqual(read()["Body"].read(), b"kept")
        self.s3.copy_object(Bucket=self.name, Key="warm", CopySource={"Bucket": self.name, "Key": "cold"}, StorageClass="STANDARD")
        self.assertEqual(self.s3.get_object(Bucket=self.name, Key="warm")["Body"].read(), b"kept")


if __name__ == "__main__":
    sys.exit(unittest.main())
