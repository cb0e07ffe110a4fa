# it forges the call that crosses
vespe__c_steal("[[], {}]")
